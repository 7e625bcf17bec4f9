"""Redelivery has no second effect, a conflict loses nothing, and nobody points into another conversation."""

import asyncio

import msgspec
import pytest

from alicia import ids
from alicia.errors import RemoteProtocolError
from alicia.protocol.messages import (
    AudioChunk,
    Body,
    Configuration,
    ControlStop,
    ControlVariation,
    ToolUseResult,
    UserMessage,
    UserNote,
)
from alicia.storage.pool import Pool
from support.talk import Talk


@pytest.fixture
async def elsewhere(pool: Pool, user: str) -> Talk:
    """Another conversation."""
    return await Talk.open(pool, f"other than {user}")


async def test_a_new_message_is_free_and_then_known(talk: Talk) -> None:
    body = talk.user_message()
    free = await talk.ledger.known(talk.id, body)
    assert (free.kind, free.stored, free.body) == ("free", False, body)
    await talk.append(free.body)
    again = await talk.ledger.known(talk.id, body)
    assert (again.kind, again.stored, again.server_id, again.sync_status) == (
        "redelivery",
        True,
        body.id,
        "synced",
    )


async def test_a_taken_id_with_other_content_gets_a_new_one(talk: Talk) -> None:
    first = talk.user_message("As I wrote it.")
    await talk.append(first)
    second = talk.user_message("As I changed it offline.", id=first.id)
    conflict = await talk.ledger.known(talk.id, second)
    assert (conflict.kind, conflict.sync_status) == ("conflict", "conflict")
    assert conflict.server_id == getattr(conflict.body, "id", None) != first.id
    await talk.append(conflict.body)
    row = await talk.row("SELECT * FROM alicia_messages WHERE local_id = %s", first.id)
    assert (row["id"], row["server_id"]) == (conflict.server_id, conflict.server_id)
    assert (row["sync_status"], row["contents"]) == ("conflict", "As I changed it offline.")
    # The same conflict delivered again has no second effect.
    again = await talk.ledger.known(talk.id, second)
    assert (again.kind, again.server_id, again.sync_status) == ("redelivery", conflict.server_id, "conflict")
    # What the device says next follows its own message, not the other one of the same id.
    follower = talk.user_message("And then?", previous_id=first.id)
    free = await talk.ledger.known(talk.id, follower)
    assert isinstance(free.body, UserMessage)
    assert free.body.previous_id == conflict.server_id


async def test_an_id_of_another_conversation_is_a_conflict_and_tells_nothing(
    talk: Talk, elsewhere: Talk
) -> None:
    theirs = elsewhere.user_message("Secret.")
    await elsewhere.append(theirs)
    same = talk.user_message("Secret.", id=theirs.id)
    assert (await talk.ledger.known(talk.id, same)).kind == "conflict"


async def test_what_was_erased_does_not_come_back_from_an_outbox(talk: Talk) -> None:
    body = talk.user_message("Forget this.")
    note = talk.note(body.id, "And this.")
    stop = ControlStop(conversation_id=talk.id, target_id=body.id, stop_type="all")
    await talk.append(body, note, stop)
    await talk.ledger.erase_message(talk.user, body.id)
    for sent in (body, note, stop):
        assert (await talk.ledger.known(talk.id, sent)).kind == "redelivery"


async def test_a_note_is_known_by_its_id_and_content(talk: Talk) -> None:
    asked, _ = await talk.exchange("One?", "1.")
    note = talk.note(asked.id, "Nice.")
    assert (await talk.ledger.known(talk.id, note)).kind == "free"
    await talk.append(note)
    assert (await talk.ledger.known(talk.id, note)).kind == "redelivery"
    other = await talk.ledger.known(talk.id, msgspec.structs.replace(note, content="Not nice."))
    assert other.kind == "conflict"
    await talk.append(other.body)


async def test_a_variation_is_known_by_its_id(talk: Talk) -> None:
    asked, answer = await talk.exchange("One?", "1.")
    body = ControlVariation(
        conversation_id=talk.id, id=ids.new(ids.MessageId), target_id=answer.id, mode="regenerate"
    )
    assert (await talk.ledger.known(talk.id, body)).kind == "free"
    await talk.append(body)
    assert (await talk.ledger.known(talk.id, body)).kind == "redelivery"
    edit = ControlVariation(
        conversation_id=talk.id, id=asked.id, target_id=asked.id, mode="edit", content="Eins?"
    )
    assert (await talk.ledger.known(talk.id, edit)).kind == "conflict"


async def test_a_stop_is_known_by_its_target(talk: Talk) -> None:
    _, answer = await talk.exchange("One?", "1.")
    sent = ControlStop(conversation_id=talk.id, target_id=answer.id, stop_type="speech")
    assert (await talk.ledger.known(talk.id, sent)).kind == "free"
    # The agent's echo says more than the client did.
    await talk.append(msgspec.structs.replace(sent, heard_characters=3))
    assert (await talk.ledger.known(talk.id, sent)).kind == "redelivery"
    other = ControlStop(conversation_id=talk.id, target_id=answer.id, stop_type="all")
    assert (await talk.ledger.known(talk.id, other)).kind == "free"


async def test_the_first_tool_result_counts(talk: Talk) -> None:
    _, answer = await talk.exchange("One?", "1.")
    request = talk.tool_use(answer.id, 1, "camera", execution="client")
    await talk.append(request)
    result = ToolUseResult(conversation_id=talk.id, request_id=request.id, success=True, result={"a": 1})
    assert (await talk.ledger.known(talk.id, result)).kind == "free"
    await talk.append(result)
    assert (await talk.ledger.known(talk.id, result)).kind == "redelivery"
    late = ToolUseResult(conversation_id=talk.id, request_id=request.id, success=True, result={"a": 2})
    assert (await talk.ledger.known(talk.id, late)).kind == "conflict"
    await talk.append(late)
    row = await talk.row("SELECT tool_result FROM alicia_tool_uses WHERE id = %s", request.id)
    assert row["tool_result"] == {"a": 1}


async def test_a_clip_is_known_by_its_id(talk: Talk, elsewhere: Talk) -> None:
    clip = AudioChunk(
        conversation_id=talk.id, id=ids.new(ids.AudioId), format="opus", duration_ms=10, data=b"x"
    )
    assert (await talk.ledger.known(talk.id, clip)).kind == "free"
    await talk.append(clip)
    assert (await talk.ledger.known(talk.id, clip)).kind == "redelivery"
    stolen = msgspec.structs.replace(clip, conversation_id=elsewhere.id)
    assert (await elsewhere.ledger.known(elsewhere.id, stolen)).kind == "conflict"


async def test_a_configuration_is_never_known(talk: Talk) -> None:
    body = Configuration(conversation_id=talk.id)
    assert (await talk.ledger.known(talk.id, body)).kind == "free"


async def test_references_into_other_conversations_are_refused(talk: Talk, elsewhere: Talk) -> None:
    mine, my_answer = await talk.exchange("Mine?", "Yes.")
    theirs, their_answer = await elsewhere.exchange("Theirs?", "Yes.")
    audio = AudioChunk(conversation_id=elsewhere.id, id=ids.new(ids.AudioId), format="opus", duration_ms=1)
    await elsewhere.append(audio)
    note, variation, stop = ids.new(ids.NoteId), ids.new(ids.MessageId), "all"
    bad: list[Body] = [
        talk.user_message(previous_id=theirs.id),
        talk.user_message(supersedes=theirs.id),
        talk.user_message(supersedes=my_answer.id),
        talk.user_message(audio_id=audio.id),
        UserNote(conversation_id=talk.id, id=note, message_id=theirs.id, content=""),
        ControlStop(conversation_id=talk.id, target_id=their_answer.id, stop_type=stop),
        ControlVariation(conversation_id=talk.id, id=variation, target_id=their_answer.id, mode="regenerate"),
        ControlVariation(conversation_id=talk.id, id=variation, target_id=mine.id, mode="regenerate"),
        ControlVariation(conversation_id=talk.id, id=variation, target_id=mine.id, mode="edit"),
        ToolUseResult(conversation_id=talk.id, request_id=ids.new(ids.ToolUseId), success=True),
        AudioChunk(
            conversation_id=talk.id,
            id=ids.new(ids.AudioId),
            message_id=theirs.id,
            format="opus",
            duration_ms=1,
        ),
        AudioChunk(conversation_id=talk.id, id=ids.new(ids.SentenceId), format="opus", duration_ms=1),
    ]
    for body in bad:
        with pytest.raises(RemoteProtocolError):
            await talk.ledger.known(talk.id, body)


async def test_the_same_message_from_an_outbox_many_times_is_one_row(talk: Talk) -> None:
    body = talk.user_message()

    async def deliver() -> None:
        known = await talk.ledger.known(talk.id, body)
        if not known.stored:
            await talk.append(known.body)

    await deliver()
    await asyncio.gather(*(deliver() for _ in range(10)))
    rows = await talk.rows("SELECT 1 FROM alicia_messages WHERE conversation_id = %s", talk.id)
    assert len(rows) == len(talk.published) == 1
