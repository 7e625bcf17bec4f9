"""Sound: what is known about it, and its bytes in ranges."""

from datetime import datetime
from typing import Any, Final, Literal, LiteralString

from msgspec import Struct

from alicia.ids import AudioId, MessageId
from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_all, fetch_one


class Audio(Struct, frozen=True, kw_only=True):
    """A row of `alicia_audio` without its bytes."""

    id: AudioId
    message_id: MessageId | None
    audio_type: Literal["input", "output"]
    audio_format: str | None
    audio_bytesize: int | None
    duration_ms: int | None
    transcription: str | None
    livekit_track_sid: str | None
    transcription_meta: dict[str, Any]
    created_at: datetime
    updated_at: datetime


class Sound(Struct, frozen=True, kw_only=True):
    """A range of a recording's bytes; `size` is the whole's."""

    audio_format: str
    size: int
    data: bytes


async def audio_of_message(conn: Connection, message_id: str) -> list[Audio]:
    """The recordings that belong to a message."""
    return await fetch_all(
        conn,
        Audio,
        """
        SELECT id, message_id, audio_type, audio_format, octet_length(audio_data) AS audio_bytesize,
               duration_ms, transcription, livekit_track_sid, transcription_meta, created_at, updated_at
          FROM alicia_audio
         WHERE message_id = %s
           AND deleted_at IS NULL
         ORDER BY created_at, id
        """,
        (message_id,),
    )


async def clip_sound(conn: Connection, audio_id: str) -> bytes | None:
    """The sound of a recording, whoever made it: only for the agent that has its conversation."""
    cursor = await conn.execute("SELECT audio_data FROM alicia_audio WHERE id = %s", (audio_id,))
    row = await cursor.fetchone()
    return row[0] if row else None


async def unheard_clips(conn: Connection, conversation_id: str) -> list[AudioId]:
    """The clips that devices sent whole to a conversation and that nobody transcribed, oldest first."""
    cursor = await conn.execute(
        """
        SELECT a.id
          FROM alicia_audio a
         WHERE a.message_id IS NULL
           AND a.transcription IS NULL
           AND a.audio_data IS NOT NULL
           AND a.deleted_at IS NULL
           AND EXISTS (SELECT
                         FROM alicia_stanzas
                        WHERE conversation_id = %s
                          AND ref = a.id
                          AND client_stanza_id IS NOT NULL)
           AND (EXISTS (SELECT FROM alicia_meta WHERE ref = a.id AND key = 'isLast' AND value = 'true')
                OR NOT EXISTS (SELECT FROM alicia_meta WHERE ref = a.id AND key = 'sequence'))
         ORDER BY a.created_at, a.id
        """,
        (conversation_id,),
    )
    return [AudioId(row[0]) for row in await cursor.fetchall()]


async def sentence_sound(
    conn: Connection, owner: str, sentence_id: str, start: int = 0, length: int = 2**30
) -> Sound | None:
    """A spoken sentence of this owner's; None when there is no sound, or not theirs."""
    params = {"id": sentence_id, "owner": owner, "start": start, "length": length}
    return await fetch_one(conn, Sound, _RANGE + " FROM alicia_sentences s " + _OWNED, params)


async def recorded_sound(
    conn: Connection, owner: str, audio_id: str, start: int = 0, length: int = 2**30
) -> Sound | None:
    """A recording of one of this owner's messages; None when there is no sound, or not theirs."""
    params = {"id": audio_id, "owner": owner, "start": start, "length": length}
    return await fetch_one(conn, Sound, _RANGE + " FROM alicia_audio s " + _OWNED, params)


_RANGE: Final[LiteralString] = """
    SELECT coalesce(s.audio_format, '') AS audio_format, octet_length(s.audio_data) AS size,
           substring(s.audio_data FROM %(start)s + 1 FOR %(length)s) AS data
"""
_OWNED: Final[LiteralString] = """
    JOIN alicia_messages m ON m.id = s.message_id
    JOIN alicia_conversations c ON c.id = m.conversation_id
   WHERE s.id = %(id)s
     AND s.audio_data IS NOT NULL
     AND s.deleted_at IS NULL
     AND c.user_id = %(owner)s
"""
