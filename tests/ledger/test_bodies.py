"""Each durable body, appended and read back field by field."""

from datetime import UTC, datetime

import msgspec
import pytest

from alicia import ids
from alicia.errors import LocalProtocolError
from alicia.ledger.batch import writable
from alicia.ledger.entries import Entry, Heard, Outcome, Recalled, Recording, Spoken
from alicia.protocol.envelope import decode
from alicia.protocol.messages import (
    BODIES,
    TRANSIENT,
    Acknowledgement,
    AssistantMessage,
    AudioChunk,
    ControlStop,
    ControlVariation,
    Erasure,
    ToolUseRequest,
    ToolUseResult,
    Transcription,
)
from alicia.storage.memories import Embedding, NewMemory
from support.talk import Talk


def test_every_durable_body_has_one_writer() -> None:
    assert writable() == frozenset(BODIES.values()) - TRANSIENT


async def test_a_user_message_is_a_row(talk: Talk) -> None:
    first = talk.user_message()
    await talk.append(first)
    body = talk.user_message(
        "And the second tallest?", previous_id=first.id, timestamp="2026-01-02T03:04:05Z"
    )
    await talk.append(body)
    row = await talk.row("SELECT * FROM alicia_messages WHERE id = %s", body.id)
    assert row["conversation_id"] == talk.id
    assert row["sequence_number"] == 2
    assert row["previous_id"] == first.id
    assert row["message_role"] == "user"
    assert row["contents"] == body.content
    assert row["completion_status"] == "completed"
    assert (row["local_id"], row["server_id"], row["sync_status"]) == (None, body.id, "synced")
    assert row["synced_at"] <= datetime.now(UTC)
    assert await talk.meta(body.id) == {"timestamp": "2026-01-02T03:04:05Z"}


async def test_a_message_without_a_previous_one_follows_the_newest(talk: Talk) -> None:
    asked, started = await talk.exchange("One?", "Yes.")
    body = talk.user_message("Two?")
    await talk.append(body)
    assert (await talk.row("SELECT previous_id FROM alicia_messages WHERE id = %s", body.id)) == {
        "previous_id": started.id
    }
    assert (await talk.row("SELECT previous_id FROM alicia_messages WHERE id = %s", asked.id)) == {
        "previous_id": None
    }


async def test_a_new_message_makes_an_archived_conversation_active(talk: Talk) -> None:
    await talk.rows("UPDATE alicia_conversations SET status = 'archived' WHERE id = %s RETURNING 1", talk.id)
    await talk.append(talk.user_message())
    assert (await talk.ledger.load(talk.id)).status == "active"


async def test_an_assistant_message_creates_its_row(talk: Talk) -> None:
    asked = talk.user_message()
    body = AssistantMessage(
        conversation_id=talk.id,
        id=ids.new(ids.MessageId),
        previous_id=asked.id,
        content="Everest.",
        status="completed",
    )
    await talk.append(asked, body)
    row = await talk.row("SELECT * FROM alicia_messages WHERE id = %s", body.id)
    assert row["message_role"] == "assistant"
    assert row["sequence_number"] == 2
    assert row["previous_id"] == asked.id
    assert row["contents"] == "Everest."
    assert row["completion_status"] == "completed"


async def test_a_final_transcription_and_its_message_are_linked_with_the_sound(talk: Talk) -> None:
    audio_id = ids.new(ids.AudioId)
    heard = Transcription(
        conversation_id=talk.id,
        id=audio_id,
        text="Hello there.",
        final=True,
        confidence=0.75,
        language="en",
        track_sid="TR_1",
    )
    body = talk.user_message("Hello there.", audio_id=audio_id)
    sound = AudioChunk(
        conversation_id=talk.id, id=audio_id, format="opus_48000", duration_ms=900, track_sid="TR_1"
    )
    await talk.append(
        Entry(heard, None, Heard(transcription_meta={"model": "m"})),
        body,
        Entry(sound, None, Recording(data=b"\x01\x02")),
    )
    row = await talk.row("SELECT * FROM alicia_audio WHERE id = %s", audio_id)
    assert row["message_id"] == body.id
    assert row["audio_type"] == "input"
    assert row["audio_format"] == "opus_48000"
    assert row["audio_data"] == b"\x01\x02"
    assert row["duration_ms"] == 900
    assert row["transcription"] == "Hello there."
    assert row["livekit_track_sid"] == "TR_1"
    assert row["transcription_meta"] == {"final": True, "confidence": 0.75, "language": "en", "model": "m"}
    message = await talk.row("SELECT audio_id FROM alicia_messages WHERE id = %s", body.id)
    assert message["audio_id"] == audio_id


async def test_only_a_final_transcription_is_stored(talk: Talk) -> None:
    body = Transcription(conversation_id=talk.id, id=ids.new(ids.AudioId), text="Hel", final=False)
    with pytest.raises(LocalProtocolError, match="final"):
        await talk.append(body)
    await talk.append(talk.user_message())


async def test_a_spoken_sentence_gets_its_sound(talk: Talk) -> None:
    asked = talk.user_message()
    started = talk.start_answer(asked.id)
    spoken = talk.sentence(started, 1, "Everest.")
    await talk.append(asked, started, Entry(spoken, None, Spoken(meta={"firstTokenMs": 12})))
    sound = AudioChunk(
        conversation_id=talk.id,
        id=spoken.id,
        message_id=started.id,
        format="pcm_s16le_24000",
        duration_ms=700,
        sequence=1,
        is_last=True,
        track_sid="TR_2",
        data=b"\x00\x01",
    )
    (published,) = await talk.append(Entry(sound, None, Recording(meta={"voice": "heart"})))
    row = await talk.row("SELECT * FROM alicia_sentences WHERE id = %s", spoken.id)
    assert row["audio_type"] == "output"
    assert row["audio_format"] == "pcm_s16le_24000"
    assert row["duration_ms"] == 700
    assert row["audio_bytesize"] == 2
    assert row["audio_data"] == b"\x00\x01"
    assert row["meta"] == {"firstTokenMs": 12, "voice": "heart"}
    assert await talk.meta(spoken.id) == {"trackSid": "TR_2", "sequence": "1", "isLast": "true"}
    # Sound is stored once, in its row, and never journaled.
    assert decode(published).body == msgspec.structs.replace(sound, data=None)


async def test_a_reasoning_step_is_a_row(talk: Talk) -> None:
    _, started = await talk.exchange("Why?", "Because.")
    body = talk.thought(started.id, 3, "Hm.")
    await talk.append(body)
    row = await talk.row("SELECT * FROM alicia_reasoning_steps WHERE id = %s", body.id)
    assert (row["message_id"], row["sequence_number"], row["content"]) == (started.id, 3, "Hm.")


def tool_request(talk: Talk, message_id: ids.MessageId) -> ToolUseRequest:
    return talk.tool_use(
        message_id,
        4,
        "calculator",
        parameters={"expression": "1 + 1"},
        execution="client",
        device="phone",
        timeout_ms=5000,
    )


async def test_a_tool_use_is_requested_and_succeeds(talk: Talk) -> None:
    _, started = await talk.exchange("Sum?", "Two.")
    body = tool_request(talk, started.id)
    await talk.append(body)
    row = await talk.row("SELECT * FROM alicia_tool_uses WHERE id = %s", body.id)
    assert row["conversation_id"] == talk.id
    assert row["message_id"] == started.id
    assert row["tool_name"] == "calculator"
    assert row["tool_arguments"] == {"expression": "1 + 1"}
    assert row["sequence_number"] == 4
    assert (row["status"], row["tool_result"], row["completed_at"]) == ("pending", None, None)
    assert await talk.meta(body.id) == {"execution": "client", "device": "phone", "timeoutMs": "5000"}
    result = ToolUseResult(
        conversation_id=talk.id, request_id=body.id, success=True, result={"v": 2}, truncated=True
    )
    await talk.append(Entry(result, None, Outcome(result={"v": 2, "log": "long"})))
    row = await talk.row("SELECT * FROM alicia_tool_uses WHERE id = %s", body.id)
    assert (row["status"], row["tool_result"]) == ("success", {"v": 2, "log": "long"})
    assert row["completed_at"] is not None
    assert (await talk.meta(body.id))["truncated"] == "true"


@pytest.mark.parametrize(("cancelled", "status"), [(False, "error"), (True, "cancelled")])
async def test_a_tool_use_fails(talk: Talk, cancelled: bool, status: str) -> None:
    _, started = await talk.exchange("Sum?", "Two.")
    body = tool_request(talk, started.id)
    result = ToolUseResult(
        conversation_id=talk.id, request_id=body.id, success=False, error_code=304, error_message="Too slow."
    )
    await talk.append(body, Entry(result, None, Outcome(cancelled=cancelled)))
    row = await talk.row("SELECT * FROM alicia_tool_uses WHERE id = %s", body.id)
    assert (row["status"], row["error_message"], row["tool_result"]) == (status, "Too slow.", None)
    assert (await talk.meta(body.id))["errorCode"] == "304"


async def test_a_memory_trace_is_a_row_and_may_bring_its_memory(talk: Talk) -> None:
    asked = talk.user_message("I live in Bern.")
    old = ids.new(ids.MemoryId)
    stored = talk.memory_use(asked.id, old, "stored", "Lives in Bern")
    memory = NewMemory(content="Lives in Bern", tags=["home"], source_type="conversation")
    await talk.append(asked, Entry(stored, None, Recalled(memory=memory)))
    new = ids.new(ids.MemoryId)
    body = talk.memory_use(
        asked.id,
        new,
        "stored",
        "Moved to Basel",
        memory_type="profile_attribute",
        confidence=0.9,
        metadata={"tags": ["home"], "answerId": "am_x"},
    )
    private = Recalled(
        query_prompt="where?",
        query_prompt_meta={"k": 5},
        similarity_score=0.8,
        position_in_results=2,
        meta={"rank": 1},
        memory=NewMemory(
            content="Lives in Basel",
            embedding=Embedding(model="mini", vector=[0.5] * 384),
            importance=0.7,
            supersedes=old,
        ),
    )
    await talk.append(Entry(body, None, private))
    row = await talk.row("SELECT * FROM alicia_memory_used WHERE id = %s", body.id)
    assert row["conversation_id"] == talk.id
    assert row["message_id"] == asked.id
    assert row["memory_id"] == new
    assert row["memory_type"] == "profile_attribute"
    assert (row["action"], row["content"], row["confidence"]) == ("stored", "Moved to Basel", 0.9)
    assert row["metadata"] == {"tags": ["home"], "answerId": "am_x"}
    assert (row["query_prompt"], row["query_prompt_meta"]) == ("where?", {"k": 5})
    assert (row["similarity_score"], row["position_in_results"], row["meta"]) == (0.8, 2, {"rank": 1})
    kept = await talk.row("SELECT *, vector_dims(embeddings) AS size FROM alicia_memory WHERE id = %s", new)
    assert (kept["content"], kept["created_by"], kept["importance"]) == ("Lives in Basel", talk.user, 0.7)
    assert (kept["memory_type"], kept["size"]) == ("profile_attribute", 1024)
    assert kept["embeddings_info"] == {"model": "mini", "dimension": 384}
    gone = await talk.row("SELECT superseded_by, tags FROM alicia_memory WHERE id = %s", old)
    assert gone == {"superseded_by": new, "tags": ["home"]}


async def test_a_memory_of_another_owner_is_not_changed(talk: Talk) -> None:
    (row,) = await talk.rows(
        "INSERT INTO alicia_memory (content, created_by) VALUES ('theirs', 'someone else') RETURNING id"
    )
    asked = talk.user_message()
    body = talk.memory_use(asked.id, row["id"], "updated", "mine")
    await talk.append(asked, Entry(body, None, Recalled(memory=NewMemory(content="mine"))))
    kept = await talk.row("SELECT content FROM alicia_memory WHERE id = %s", row["id"])
    assert kept["content"] == "theirs"


async def test_a_note_is_a_row_by_the_owner(talk: Talk) -> None:
    asked, _ = await talk.exchange("One?", "Yes.")
    body = talk.note(asked.id, "Good question.", note_type="feedback", metadata={"stars": 5})
    await talk.append(body)
    row = await talk.row("SELECT * FROM alicia_user_conversation_commentaries WHERE id = %s", body.id)
    assert (row["conversation_id"], row["message_id"]) == (talk.id, asked.id)
    assert (row["content"], row["created_by"], row["meta"]) == ("Good question.", talk.user, {"stars": 5})
    assert await talk.meta(body.id) == {"noteType": "feedback"}


async def test_a_stop_is_meta_of_the_message_and_the_sentence(talk: Talk) -> None:
    asked = talk.user_message()
    started = talk.start_answer(asked.id)
    spoken = talk.sentence(started, 1, "Everest is the tallest.")
    stop = ControlStop(
        conversation_id=talk.id,
        target_id=started.id,
        stop_type="all",
        reason="interrupted",
        sentence_id=spoken.id,
        heard_characters=7,
    )
    await talk.append(asked, started, spoken, stop)
    assert await talk.meta(started.id) == {
        "stopType": "all",
        "reason": "interrupted",
        "sentenceId": spoken.id,
        "heardCharacters": "7",
    }
    assert (await talk.meta(spoken.id))["heardCharacters"] == "7"
    row = await talk.row("SELECT text FROM alicia_sentences WHERE id = %s", spoken.id)
    assert row["text"] == "Everest is the tallest."


async def test_a_variation_supersedes_before_the_new_message_exists(talk: Talk) -> None:
    _, started = await talk.exchange("One?", "Yes.")
    body = ControlVariation(
        conversation_id=talk.id, id=ids.new(ids.MessageId), target_id=started.id, mode="regenerate"
    )
    await talk.append(body)
    row = await talk.row("SELECT superseded_by FROM alicia_messages WHERE id = %s", started.id)
    assert row["superseded_by"] == body.id
    assert await talk.meta(body.id) == {"mode": "regenerate"}


async def test_an_erasure_settles_what_waited_for_it(talk: Talk) -> None:
    asked, _ = await talk.exchange("One?", "Yes.")
    await talk.ledger.erase_message(talk.user, asked.id)
    waiting = await talk.ledger.pending_erasures(talk.id)
    assert asked.id in waiting
    await talk.append(Erasure(conversation_id=talk.id, ids=waiting))
    assert await talk.ledger.pending_erasures(talk.id) == []


async def test_the_envelopes_meta_becomes_rows(talk: Talk) -> None:
    body = talk.user_message()
    meta = {"messaging.trace_id": "4bf9", "otel_span_counter": 3, "tags": ["a"], "none": None}
    await talk.append(Entry(body, meta))
    assert await talk.meta(body.id) == {
        "messaging.trace_id": "4bf9",
        "otel_span_counter": "3",
        "tags": '["a"]',
        "none": "null",
    }
    stop = ControlStop(conversation_id=talk.id, target_id=body.id, stop_type="generation")
    await talk.append(Entry(stop, {"messaging.trace_id": "aaaa"}))
    assert await talk.meta(talk.id) == {"messaging.trace_id": "aaaa"}


async def test_what_has_no_row_is_refused(talk: Talk) -> None:
    body = Acknowledgement(conversation_id=talk.id, acknowledged_stanza_id=1, last_server_stanza_id=0)
    with pytest.raises(LocalProtocolError):
        await talk.append(body)
    with pytest.raises(LocalProtocolError, match="no use"):
        await talk.append(Entry(talk.user_message(), None, Recording()))
    with pytest.raises(LocalProtocolError, match="at least one"):
        await talk.append()


async def test_rows_that_do_not_fit_leave_nothing(talk: Talk) -> None:
    body = talk.user_message()
    orphan = talk.start_answer(ids.new(ids.MessageId))
    with pytest.raises(LocalProtocolError, match="do not fit"):
        await talk.append(body, orphan)
    assert await talk.rows("SELECT 1 FROM alicia_messages WHERE conversation_id = %s", talk.id) == []
    assert await talk.rows("SELECT 1 FROM alicia_stanzas WHERE conversation_id = %s", talk.id) == []
    await talk.append(body)
    assert (await talk.ledger.load(talk.id)).last_server_stanza_id == talk.session.last_server_stanza_id
