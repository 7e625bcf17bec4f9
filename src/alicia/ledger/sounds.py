"""The writes of sound and its transcription: rows of `alicia_audio`, and the audio columns of sentences."""

import msgspec

from alicia.errors import LocalProtocolError
from alicia.ledger.batch import Batch, json, writes
from alicia.ledger.entries import Heard, Recording
from alicia.protocol.messages import AudioChunk, Transcription, fields


@writes(Transcription, Heard)
def write_transcription(batch: Batch, body: Transcription, private: Heard) -> None:
    """The final text of a row of `alicia_audio`, whether or not its sound has come already."""
    if not body.final:
        raise LocalProtocolError("only a final Transcription is stored")
    told = {"final": True, "confidence": body.confidence, "language": body.language}
    known = {key: value for key, value in told.items() if value is not None}
    batch.add(
        """
        INSERT INTO alicia_audio AS a (id, audio_type, transcription, livekit_track_sid, transcription_meta)
        VALUES (%(id)s, 'input', %(text)s, %(track_sid)s, %(transcription_meta)s)
            ON CONFLICT (id) DO UPDATE
           SET transcription = excluded.transcription,
               livekit_track_sid = coalesce(excluded.livekit_track_sid, a.livekit_track_sid),
               transcription_meta = a.transcription_meta || excluded.transcription_meta
        """,
        fields(body) | {"transcription_meta": json({**private.transcription_meta, **known})},
    )
    batch.note(body.id, previousId=body.previous_id)


@writes(AudioChunk, Recording)
def write_audio_chunk(batch: Batch, body: AudioChunk, private: Recording) -> None:
    """The sound of a sentence, or of a recording; its id says which."""
    data = body.data if private.data is None else private.data
    if body.id.startswith("ams_"):
        _write_sentence_audio(batch, body, private, data)
    else:
        _write_recording(batch, body, private, data)
    batch.note(body.id, sequence=body.sequence, isLast=body.is_last)


def _write_sentence_audio(batch: Batch, body: AudioChunk, private: Recording, data: bytes | None) -> None:
    batch.add(
        """
        UPDATE alicia_sentences s
           SET audio_type = %(audio_type)s,
               audio_format = %(format)s,
               duration_ms = %(duration_ms)s,
               audio_bytesize = coalesce(%(audio_bytesize)s, s.audio_bytesize),
               audio_data = coalesce(%(audio_data)s, s.audio_data),
               meta = s.meta || %(meta)s
          FROM alicia_messages m
         WHERE s.id = %(id)s
           AND s.deleted_at IS NULL
           AND m.id = s.message_id
           AND m.conversation_id = %(conversation_id)s
        """,
        fields(body)
        | {
            "audio_type": private.audio_type or "output",
            "audio_data": data,
            "audio_bytesize": None if data is None else len(data),
            "meta": json(private.meta),
        },
    )
    batch.note(body.id, trackSid=body.track_sid)


def _write_recording(batch: Batch, body: AudioChunk, private: Recording, data: bytes | None) -> None:
    batch.add(
        """
        INSERT INTO alicia_audio AS a (id, message_id, audio_type, audio_format, audio_data, duration_ms,
                                       livekit_track_sid, transcription_meta)
        VALUES (%(id)s, %(message_id)s, %(audio_type)s, %(format)s, %(audio_data)s, %(duration_ms)s,
                %(track_sid)s, %(meta)s)
            ON CONFLICT (id) DO UPDATE
           SET message_id = coalesce(a.message_id, excluded.message_id),
               audio_type = excluded.audio_type,
               audio_format = excluded.audio_format,
               audio_data = CASE WHEN %(joins)s THEN a.audio_data || excluded.audio_data
                                 ELSE coalesce(excluded.audio_data, a.audio_data) END,
               duration_ms = CASE WHEN %(joins)s THEN a.duration_ms + excluded.duration_ms
                                  ELSE excluded.duration_ms END,
               livekit_track_sid = coalesce(excluded.livekit_track_sid, a.livekit_track_sid),
               transcription_meta = a.transcription_meta || excluded.transcription_meta
        """,
        fields(body)
        | {
            "audio_type": private.audio_type or "input",
            "audio_data": data,
            # A clip comes in parts.
            "joins": body.data is not None and body.sequence is not None,
            "meta": json(private.meta),
        },
    )


def without_sound(body: AudioChunk) -> AudioChunk:
    """The body as it is journaled and published: sound is stored once, in its row."""
    return body if body.data is None else msgspec.structs.replace(body, data=None)
