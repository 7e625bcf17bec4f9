"""What the documents' example queries show, as typed rows and only for their owner."""

from datetime import UTC, datetime, timedelta

import pytest

from alicia import ids
from alicia.ledger.entries import Entry, Recalled, Recording
from alicia.protocol.messages import (
    AudioChunk,
    ToolUseResult,
    Transcription,
)
from alicia.storage.audio import recorded_sound, sentence_sound
from alicia.storage.conversations import (
    active_conversation,
    conversation,
    conversations,
    update_conversation,
)
from alicia.storage.memories import NewMemory, memory_moments, memory_usage
from alicia.storage.messages import history, message
from alicia.storage.meta import meta_of, set_meta, settings, user_ref
from alicia.storage.pool import Connection, Pool
from alicia.storage.tools import (
    enable_tool,
    failed_tool_uses,
    register_tool,
    tool_uses_of_conversation,
    tools,
)
from alicia.storage.traces import commentaries, trace
from support.talk import Talk


@pytest.fixture
async def talk(pool: Pool, user: str) -> Talk:
    return await Talk.open(pool, user)


async def test_a_conversation_is_its_owners(talk: Talk, conn: Connection) -> None:
    found = await conversation(conn, talk.user, talk.id)
    assert found
    assert (found.id, found.user_id, found.livekit_room_name) == (talk.id, talk.user, talk.id)
    assert (found.status, found.title, found.preferences) == ("active", "", {})
    assert found.created_at.tzinfo is UTC
    assert abs(found.created_at - datetime.now(UTC)) < timedelta(minutes=5)
    assert await active_conversation(conn, talk.user, talk.id) == found
    assert await conversation(conn, "stranger", talk.id) is None
    assert await update_conversation(conn, "stranger", talk.id, title="Mine") is None


async def test_conversations_are_listed_page_by_page_latest_first(
    pool: Pool, conn: Connection, user: str
) -> None:
    talks = [await Talk.open(pool, user) for _ in range(5)]
    for number, one in enumerate(talks):
        await update_conversation(conn, user, one.id, title=f"Talk {number}", preferences={"n": number})
    first = await conversations(conn, user, limit=3)
    assert [row.title for row in first] == ["Talk 4", "Talk 3", "Talk 2"]
    assert first[0].preferences == {"n": 4}
    second = await conversations(conn, user, limit=3, before=(first[-1].updated_at, first[-1].id))
    assert [row.title for row in second] == ["Talk 1", "Talk 0"]
    assert [row.title for row in await conversations(conn, user, query="talk 3")] == ["Talk 3"]
    await update_conversation(conn, user, talks[0].id, status="archived")
    await update_conversation(conn, user, talks[1].id, status="deleted")
    assert [row.title for row in await conversations(conn, user, status="archived")] == ["Talk 0"]
    assert [row.title for row in await conversations(conn, user, status="deleted")] == ["Talk 1"]
    assert {row.title for row in await conversations(conn, user)} == {"Talk 0", "Talk 2", "Talk 3", "Talk 4"}
    restored = await update_conversation(conn, user, talks[1].id, status="active")
    assert restored
    assert restored.deleted_at is None


async def test_a_history_is_paged_by_key_with_the_head_of_the_same_snapshot(
    talk: Talk, conn: Connection
) -> None:
    empty = await history(conn, talk.user, talk.id)
    assert empty
    assert (empty.messages, empty.last_server_stanza_id, empty.next) == ([], 0, None)
    for number in range(5):
        await talk.exchange(f"Q{number}", f"A{number}")
    newest = await history(conn, talk.user, talk.id, limit=4)
    assert newest
    assert [row.contents for row in newest.messages] == ["Q3", "A3", "Q4", "A4"]
    assert newest.last_server_stanza_id == talk.session.last_server_stanza_id
    older = await history(conn, talk.user, talk.id, limit=6, before=newest.next)
    assert older
    assert [row.contents for row in older.messages] == ["Q0", "A0", "Q1", "A1", "Q2", "A2"]
    assert older.next is None
    assert await history(conn, "stranger", talk.id) is None
    one = older.messages[1]
    assert await message(conn, talk.user, one.id) == one
    assert await message(conn, "stranger", one.id) is None


async def test_messages_come_with_the_notes_on_them_oldest_first(talk: Talk, conn: Connection) -> None:
    asked, answer = await talk.exchange("Q", "A")
    for content in ("First.", "Second."):
        await talk.append(talk.note(answer.id, content))
    found = await history(conn, talk.user, talk.id)
    assert found
    question, noted = found.messages
    assert question.commentaries == []
    assert [note.content for note in noted.commentaries] == ["First.", "Second."]
    assert noted.commentaries[0].created_by == talk.user
    assert noted.commentaries[0].created_at.tzinfo is not None
    assert await message(conn, talk.user, answer.id) == noted
    assert await message(conn, talk.user, asked.id) == question


async def test_a_trace_holds_all_that_made_a_message(talk: Talk, conn: Connection) -> None:
    audio_id = ids.new(ids.AudioId)
    asked = talk.user_message("Hello.", audio_id=audio_id)
    answer = talk.start_answer(asked.id)
    spoken = talk.sentence(answer, 1, "Hi.", final=True)
    step = talk.thought(answer.id, 1, "Greet.")
    request = talk.tool_use(answer.id, 2, "clock")
    result = ToolUseResult(
        conversation_id=talk.id, request_id=request.id, success=False, error_message="Stopped."
    )
    recalled = talk.memory_use(
        asked.id, ids.new(ids.MemoryId), "stored", "Says hello", metadata={"answerId": answer.id}
    )
    note = talk.note(answer.id, "Short.")
    await talk.append(
        Transcription(conversation_id=talk.id, id=audio_id, text="Hello.", final=True),
        asked,
        Entry(answer, {"model": "m"}),
        Entry(
            recalled,
            None,
            Recalled(memory=NewMemory(content="Says hello"), similarity_score=0.5, meta={"r": 1}),
        ),
        step,
        request,
        result,
        Entry(spoken, {"otel_span": "s"}),
        note,
    )
    found = await trace(conn, talk.user, answer.id)
    assert found
    assert found.message.id == answer.id
    assert [row.text for row in found.sentences] == ["Hi."]
    assert [row.content for row in found.reasoning] == ["Greet."]
    assert [(row.tool_name, row.status) for row in found.tool_uses] == [("clock", "error")]
    assert [(row.content, row.similarity_score, row.meta) for row in found.memories] == [
        ("Says hello", 0.5, {"r": 1})
    ]
    assert [row.content for row in found.commentaries] == ["Short."]
    assert {(row.ref, row.key) for row in found.meta} >= {(answer.id, "model"), (spoken.id, "otel_span")}
    assert [row.type for row in found.stanzas] == [13, 14, 5, 6, 7, 16, 15]
    question = await trace(conn, talk.user, asked.id)
    assert question
    assert [row.transcription for row in question.audio] == ["Hello."]
    assert [row.id for row in question.memories] == [recalled.id]
    assert await trace(conn, "stranger", answer.id) is None
    # The same rows by their other paths.
    failed = await failed_tool_uses(conn, talk.user)
    assert [row.error_message for row in failed] == ["Stopped."]
    assert await failed_tool_uses(conn, "stranger") == []
    assert await tool_uses_of_conversation(conn, talk.user, talk.id) == found.tool_uses
    (comment,) = await commentaries(conn, talk.user, talk.id)
    assert (comment.content, comment.message_content) == ("Short.", "Hi.")
    (used,) = await memory_usage(conn, talk.user)
    assert (used.content, used.usage_count, used.avg_similarity) == ("Says hello", 1, 0.5)
    (moment,) = await memory_moments(conn, talk.user, recalled.memory_id)
    assert (moment.id, moment.message_id, moment.action) == (recalled.id, asked.id, "stored")


async def test_sound_is_read_in_ranges_by_its_owner(talk: Talk, conn: Connection) -> None:
    asked = talk.user_message()
    answer = talk.start_answer(asked.id)
    spoken = talk.sentence(answer, 1, "Hi.")
    sound = bytes(range(256)) * 40
    clip = AudioChunk(
        conversation_id=talk.id, id=ids.new(ids.AudioId), message_id=asked.id, format="pcm", duration_ms=5
    )
    chunk = AudioChunk(conversation_id=talk.id, id=spoken.id, format="pcm", duration_ms=5)
    await talk.append(
        asked,
        answer,
        spoken,
        Entry(chunk, None, Recording(data=sound)),
        Entry(clip, None, Recording(data=sound)),
    )
    for read, one in ((sentence_sound, spoken.id), (recorded_sound, clip.id)):
        whole = await read(conn, talk.user, one)
        assert whole
        assert (whole.data, whole.size, whole.audio_format) == (sound, len(sound), "pcm")
        part = await read(conn, talk.user, one, 300, 10)
        assert part
        assert (part.data, part.size) == (sound[300:310], len(sound))
        assert await read(conn, "stranger", one) is None
    assert await sentence_sound(conn, talk.user, ids.new(ids.SentenceId)) is None


async def test_tools_are_registered_and_switched(conn: Connection, user: str) -> None:
    name = f"tool of {user}"
    await register_tool(conn, name, "Old.", {"type": "object"})
    assert await enable_tool(conn, name, False)
    await register_tool(conn, name, "New.", {"type": "object"})
    (found,) = [tool for tool in await tools(conn) if tool.name == name]
    assert (found.description, found.schema, found.enabled) == ("New.", {"type": "object"}, False)
    assert name not in {tool.name for tool in await tools(conn, enabled_only=True)}
    assert await enable_tool(conn, f"no {name}", True) is None


async def test_a_users_settings_are_single(conn: Connection, user: str) -> None:
    await set_meta(conn, user_ref(user), "voice", "heart")
    await set_meta(conn, user_ref(user), "voice", {"name": "heart", "speed": 1.5})
    await set_meta(conn, user_ref(user), "memory", False)
    assert await settings(conn, user) == {"voice": '{"name":"heart","speed":1.5}', "memory": "false"}
    await set_meta(conn, user_ref(user), "voice", None)
    assert [row.key for row in await meta_of(conn, user_ref(user))] == ["memory"]
