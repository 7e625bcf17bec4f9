"""What is erased is nowhere: not in a row, not in the journal, not in the meta."""

from collections.abc import AsyncIterator

import pytest

from alicia import ids
from alicia.errors import NotFound
from alicia.ledger.entries import Entry, Recording
from alicia.memory.changes import Change
from alicia.protocol.envelope import decode
from alicia.protocol.messages import (
    AudioChunk,
    ControlStop,
    ControlVariation,
    Erasure,
    MemoryTrace,
    Tombstone,
    UserNote,
)
from alicia.storage.changes import listen
from alicia.storage.memories import NewMemory, create_memories, memory
from alicia.storage.meta import set_meta, user_ref
from alicia.storage.pool import Pool, make_pool
from alicia.storage.summaries import MEMORY_TYPE, Stage, source_info
from support.talk import Talk
from support.turns import TABLES, Turn, exchange

SECRET = "xylophone"


@pytest.fixture
async def pool(fresh_database_url: str) -> AsyncIterator[Pool]:
    """A database of its own, since every row of it is searched for the secret."""
    async with make_pool(fresh_database_url, max_size=4) as opened:
        yield opened


async def places(talk: Talk, secret: str = SECRET) -> list[str]:
    """The tables that still hold the secret, as text, in jsonb, or in bytes."""
    found: list[str] = []
    async with talk.pool.connection() as conn:
        for table in TABLES:
            statement = f"""
                SELECT count(*)
                  FROM {table} t
                 WHERE t::text LIKE %(text)s OR t::text LIKE %(bytes)s
            """
            params = {"text": f"%{secret}%", "bytes": f"%{secret.encode().hex()}%"}
            row = await (await conn.execute(statement.encode(), params)).fetchone()
            if row and row[0]:
                found.append(table)
    return found


async def tell_all(talk: Talk, secret: str = SECRET) -> Turn:
    """An exchange that leaves the secret in every table, and a stop whose reason it is."""
    turn = await exchange(talk, secret)
    await talk.append(
        ControlStop(conversation_id=talk.id, target_id=turn.answer, stop_type="all", reason=secret)
    )
    return turn


async def test_an_erased_exchange_is_nowhere(talk: Talk) -> None:
    asked, answered, memory_id = await tell_all(talk)
    async with talk.pool.connection() as conn:
        await set_meta(conn, talk.id, "summary", f"About a {SECRET}")
    assert set(await places(talk)) == set(TABLES) - {"alicia_conversations"}
    before = [decode(data) async for data in talk.ledger.replay(talk.id)]
    told = await talk.ledger.erase_message(talk.user, answered)
    assert answered in told[talk.id]
    # The question is still there, and what was learned from it.
    assert "alicia_messages" in await places(talk)
    assert "alicia_memory" in await places(talk)
    assert not {"alicia_sentences", "alicia_tool_uses", "alicia_reasoning_steps"} & set(await places(talk))
    told = await talk.ledger.erase_message(talk.user, asked)
    assert asked in told[talk.id]
    assert await places(talk) == []
    after = [decode(data) async for data in talk.ledger.replay(talk.id)]
    assert [(e.stanza_id, e.previous_stanza_id, e.type) for e in after] == [
        (e.stanza_id, e.previous_stanza_id, e.type) for e in before
    ]
    assert all(isinstance(envelope.body, Tombstone) and envelope.meta is None for envelope in after)
    row = await talk.row("SELECT * FROM alicia_memory WHERE id = %s", memory_id)
    assert (row["content"], row["embeddings"]) == ("", None)
    rows = await talk.rows("SELECT deleted_at FROM alicia_messages WHERE conversation_id = %s", talk.id)
    assert all(found["deleted_at"] for found in rows)


async def test_other_messages_stay_when_one_is_erased(talk: Talk) -> None:
    asked, answered, _ = await tell_all(talk)
    kept, _ = await talk.exchange("And the piano?", "It is in tune.")
    await talk.ledger.erase_message(talk.user, asked)
    await talk.ledger.erase_message(talk.user, answered)
    assert await places(talk) == []
    assert set(await places(talk, "piano")) == {"alicia_messages", "alicia_stanzas"}
    row = await talk.row("SELECT contents FROM alicia_messages WHERE id = %s", kept.id)
    assert row["contents"] == "And the piano?"


async def test_an_edited_message_takes_its_variation_with_it(talk: Talk) -> None:
    asked, _ = await talk.exchange("One?", "1.")
    edit = ControlVariation(
        conversation_id=talk.id, id=ids.new(ids.MessageId), target_id=asked.id, mode="edit", content=SECRET
    )
    await talk.append(edit, talk.user_message(SECRET, id=edit.id, supersedes=asked.id))
    await talk.ledger.erase_message(talk.user, edit.id)
    assert await places(talk) == []


async def test_the_sound_of_a_sentence_that_comes_after_its_erasure_is_not_kept(talk: Talk) -> None:
    _, answer = await talk.exchange("One?")
    sentence = talk.sentence(answer, 1, "1.", final=True)
    await talk.append(sentence)
    await talk.ledger.erase_message(talk.user, answer.id)
    sound = AudioChunk(conversation_id=talk.id, id=sentence.id, format="pcm", duration_ms=1)
    await talk.append(Entry(sound, None, Recording(data=SECRET.encode())))
    assert await places(talk) == []


async def test_an_erased_conversation_is_nowhere(talk: Talk) -> None:
    await tell_all(talk)
    loose = UserNote(conversation_id=talk.id, id=ids.new(ids.NoteId), content=f"All about {SECRET}.")
    unheard = AudioChunk(conversation_id=talk.id, id=ids.new(ids.AudioId), format="pcm", duration_ms=1)
    await talk.append(loose, Entry(unheard, None, Recording(data=SECRET.encode())))
    async with talk.pool.connection() as conn:
        await conn.execute(
            """
            UPDATE alicia_conversations SET title = %s, preferences = jsonb_build_object('w', title)
             WHERE id = %s
            """,
            (SECRET, talk.id),
        )
        await set_meta(conn, talk.id, "summary", SECRET)
    assert set(await places(talk)) == set(TABLES)
    assert await talk.ledger.erase_conversation(talk.user, talk.id) == {talk.id: [talk.id]}
    assert await places(talk) == []
    row = await talk.ledger.load(talk.id)
    assert row.status == "deleted"
    assert row.deleted_at is not None
    assert await talk.ledger.pending_erasures(talk.id) == [talk.id]


async def test_an_erased_memory_leaves_no_trace_in_any_conversation(talk: Talk, pool: Pool) -> None:
    other = await Talk.open(pool, talk.user)
    async with pool.connection() as conn:
        (memory_id,) = await create_memories(conn, talk.user, [NewMemory(content=f"Has a {SECRET}")])
    traces: dict[ids.ConversationId, list[str]] = {}
    for place in (talk, other):
        asked = place.user_message("What do I have?")
        trace = place.memory_use(asked.id, memory_id, "retrieved", f"Has a {SECRET}")
        await place.append(asked, trace)
        traces[place.id] = [trace.id]
    assert await talk.ledger.erase_memory(talk.user, memory_id) == traces
    assert await places(talk) == []
    async with pool.connection() as conn:
        assert await memory(conn, talk.user, memory_id) is None


async def test_nothing_comes_back_into_a_memory_that_is_erased_while_it_is_confirmed(
    talk: Talk, pool: Pool
) -> None:
    known = NewMemory(content=f"Has a {SECRET}")
    async with pool.connection() as conn:
        (memory_id,) = await create_memories(conn, talk.user, [known])
    asked = talk.user_message("Mine is still here.")
    await talk.append(asked)
    await talk.ledger.erase_memory(talk.user, memory_id)
    change = Change(memory_id=memory_id, memory=known, reason="confirmed")
    await talk.append(change.entry(talk.id, asked.id))
    assert "alicia_memory" not in await places(talk)


async def test_an_erased_user_is_nowhere_and_others_stay(talk: Talk, pool: Pool) -> None:
    second, other = await Talk.open(pool, talk.user), await Talk.open(pool, f"another {ids.new(ids.MetaId)}")
    await tell_all(talk)
    await tell_all(second)
    await tell_all(other, "harpsichord")
    async with pool.connection() as conn:
        await set_meta(conn, user_ref(talk.user), "voice", SECRET)
        await create_memories(conn, talk.user, [NewMemory(content=SECRET)])
    told = await talk.ledger.erase_user(talk.user)
    assert told == {talk.id: [talk.id], second.id: [second.id]}
    assert await places(talk) == []
    assert await places(talk, talk.user) == []
    assert set(await places(talk, "harpsichord")) == set(TABLES) - {"alicia_conversations"}
    await other.ledger.erase_user(other.user)


async def test_what_an_agent_says_before_it_hears_of_the_erasure_goes_too(talk: Talk) -> None:
    asked = talk.user_message("Go on.")
    started = talk.start_answer(asked.id)
    await talk.append(asked, started, talk.sentence(started, 1, f"The {SECRET}"))
    await talk.ledger.erase_message(talk.user, started.id)
    late = talk.sentence(started, 2, f"is a {SECRET}.", final=True)
    await talk.append(Entry(late, {"note": SECRET}))
    assert set(await places(talk)) >= {"alicia_sentences", "alicia_meta", "alicia_stanzas"}
    told = await talk.ledger.pending_erasures(talk.id)
    assert {started.id, late.id} <= set(told)
    assert await places(talk) == []
    await talk.append(Erasure(conversation_id=talk.id, ids=told))
    assert await talk.ledger.pending_erasures(talk.id) == []


async def test_what_an_agent_learns_or_sums_up_before_it_hears_of_the_erasure_goes_too(talk: Talk) -> None:
    asked, answer = await talk.exchange(f"My {SECRET} is blue.", "Nice.")
    await talk.ledger.erase_message(talk.user, asked.id)
    stage = Stage(text=f"The user has a {SECRET}.", through=answer.id, messages=2)
    summary = NewMemory(
        content=stage.text,
        source_type="conversation",
        source_info=source_info(talk.id, [stage]),
        memory_type=MEMORY_TYPE,
    )
    lesson = NewMemory(content=f"Has a {SECRET}.", memory_type="fact")
    for learned, source in ((summary, answer.id), (lesson, asked.id)):
        change = Change(memory_id=ids.new(ids.MemoryId), memory=learned, reason="new")
        await talk.append(change.entry(talk.id, source))
    assert set(await places(talk)) >= {"alicia_memory", "alicia_memory_used", "alicia_stanzas"}
    await talk.ledger.pending_erasures(talk.id)
    assert await places(talk) == []


@pytest.mark.parametrize("what", ["message", "memory"])
async def test_what_an_agent_adds_to_an_erased_memory_before_it_hears_of_that_goes_too(
    talk: Talk, what: str
) -> None:
    asked, answer = await talk.exchange(f"My {SECRET} is blue.", "Nice.")
    stage = Stage(text=f"The user has a {SECRET}.", through=answer.id, messages=2)
    summary = NewMemory(
        content=stage.text, source_info=source_info(talk.id, [stage]), memory_type=MEMORY_TYPE
    )
    memory_id = ids.new(ids.MemoryId)
    await talk.append(Change(memory_id=memory_id, memory=summary, reason="new").entry(talk.id, answer.id))
    if what == "memory":
        await talk.ledger.erase_memory(talk.user, memory_id)
    else:
        await talk.ledger.erase_message(talk.user, asked.id)
    late = Change(memory_id=memory_id, memory=summary, reason="changed").entry(talk.id, answer.id)
    await talk.append(late)
    told = await talk.ledger.pending_erasures(talk.id)
    assert isinstance(late.body, MemoryTrace)
    assert late.body.id in told
    assert not {"alicia_memory", "alicia_memory_used"} & set(await places(talk))
    await talk.append(Erasure(conversation_id=talk.id, ids=told))
    assert await talk.ledger.pending_erasures(talk.id) == []


async def test_what_is_said_in_an_erased_conversation_goes_too(talk: Talk) -> None:
    await talk.exchange("One?", "1.")
    await talk.ledger.erase_conversation(talk.user, talk.id)
    await talk.append(talk.user_message(SECRET))
    assert await talk.ledger.pending_erasures(talk.id) == [talk.id]
    assert await places(talk) == []


async def test_other_peoples_things_are_not_found(talk: Talk) -> None:
    asked, _, memory_id = await tell_all(talk, "cembalo")
    for erasing in (
        talk.ledger.erase_message("stranger", asked),
        talk.ledger.erase_conversation("stranger", talk.id),
        talk.ledger.erase_memory("stranger", memory_id),
    ):
        with pytest.raises(NotFound):
            await erasing
    assert await talk.ledger.erase_user("stranger") == {}
    assert "alicia_messages" in await places(talk, "cembalo")


async def test_the_agent_hears_of_an_erasure(talk: Talk, fresh_database_url: str) -> None:
    asked, _ = await talk.exchange("One?", "1.")
    async with make_pool(fresh_database_url, max_size=1) as direct, direct.connection() as conn:
        changes = listen(conn)
        # The first step sends LISTEN; the erase comes after it.
        waiting = anext(changes)
        await conn.execute("LISTEN alicia_changes")
        await talk.ledger.erase_message(talk.user, asked.id)
        while await waiting != talk.id:
            waiting = anext(changes)
        await changes.aclose()
