"""Lessons that are switched off, cancelled, overtaken or run side by side."""

import asyncio
import json

import pytest

from alicia.errors import ModelUnavailable
from alicia.local.embedder import LocalEmbedder
from alicia.memory.learning import Lesson
from alicia.memory.memory import Memory
from alicia.storage import memories as stored
from alicia.storage.pool import Pool, make_pool
from alicia.storage.switch import switch_memory
from support.scripted import Gate, Script, ScriptedServer, Text

from .conftest import Talk, begin, keep, learn, told


async def test_with_memory_off_nothing_is_read_or_written(
    talk: Talk, scripted: ScriptedServer, pool: Pool, user: str
) -> None:
    await keep(talk.memory, user, "The user lives in Lisbon.")
    async with pool.connection() as conn:
        await switch_memory(conn, user, on=False)
    assert await talk.memory.recall(user, [], "Where do I live?") == []
    assert await learn(talk, scripted, "I like fado.", "The user likes fado.") == Lesson()
    assert scripted.requests == []
    async with pool.connection() as conn:
        await switch_memory(conn, user, on=True)
    assert len(await talk.memory.recall(user, [], "Where do I live?")) == 1


async def test_memory_is_off_in_one_conversation_and_on_in_another(
    talk: Talk, scripted: ScriptedServer, pool: Pool, user: str
) -> None:
    await keep(talk.memory, user, "The user lives in Lisbon.")
    async with pool.connection() as conn:
        await conn.execute(
            """UPDATE alicia_conversations SET preferences = '{"memory": false}' WHERE id = %s""", (talk.id,)
        )
    assert await talk.memory.recall(user, [], "Where do I live?", conversation_id=talk.id) == []
    assert await learn(talk, scripted, "I like fado.", "The user likes fado.") == Lesson()
    other = await begin(pool, talk.memory, user)
    assert await talk.memory.recall(user, [], "Where do I live?", conversation_id=other.id) != []


async def test_memory_switched_off_while_the_model_thinks_stores_nothing(
    talk: Talk, scripted: ScriptedServer, pool: Pool, user: str
) -> None:
    gate = Gate()
    scripted.script("json", Script(gate, Text(json.dumps(told("The user lives in Lisbon.")))))
    task = asyncio.create_task(talk.memory.learn(await talk.say("I live in Lisbon."), talk.store))
    await gate.reached()
    async with pool.connection() as conn:
        await switch_memory(conn, user, on=False)
    gate.open()
    assert await task == Lesson()
    assert await talk.known() == []


async def test_fifty_turns_at_once_that_tell_the_same_store_it_once(
    database_url: str, embedder: LocalEmbedder, scripted: ScriptedServer, memory: Memory, user: str
) -> None:
    scripted.answer_json(told("The user was born in Graz."), always=True)
    async with make_pool(database_url, max_size=5) as few:
        # Two processes would have a memory each, and share only the database.
        crowd = [await begin(few, Memory(few, embedder, memory.model), user) for _ in range(2)]
        talks = [await begin(few, crowd[n % 2].memory, user) for n in range(50)]
        turns = [await talk.say("I was born in Graz.") for talk in talks]
        lessons = await asyncio.gather(
            *(talk.memory.learn(turn, talk.store) for talk, turn in zip(talks, turns, strict=True))
        )
        assert await talks[0].known() == ["The user was born in Graz."]
    reasons = sorted(lesson.changes[0].reason for lesson in lessons)
    assert reasons == ["confirmed"] * 49 + ["new"]


async def test_a_cancelled_lesson_leaves_everything_as_it_was(talk: Talk, scripted: ScriptedServer) -> None:
    gate = Gate()
    scripted.script("json", Script(gate, Text(json.dumps(told("The user lives in Lisbon.")))))
    task = asyncio.create_task(talk.memory.learn(await talk.say("I live in Lisbon."), talk.store))
    await gate.reached()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.open()
    assert await talk.known() == []
    await learn(talk, scripted, "I live in Graz.", "The user lives in Graz.")
    assert await talk.known() == ["The user lives in Graz."]


async def test_a_model_that_fails_is_reported_and_nothing_is_stored(
    talk: Talk, scripted: ScriptedServer
) -> None:
    scripted.fail("json")
    with pytest.raises(ModelUnavailable):
        await talk.memory.learn(await talk.say("I live in Lisbon."), talk.store)
    assert await talk.known() == []


async def test_a_memory_deleted_while_a_turn_runs_is_not_brought_back(
    talk: Talk, scripted: ScriptedServer
) -> None:
    (known,) = await keep(talk.memory, talk.user, "The user lives in Lisbon.")
    gate = Gate()
    scripted.script("json", Script(gate, Text(json.dumps(told("The user lives in Lisbon.")))))
    task = asyncio.create_task(talk.memory.learn(await talk.say("I live in Lisbon."), talk.store))
    await gate.reached()
    await talk.memory.forget(talk.user, known)
    gate.open()
    (change,) = (await task).changes
    assert change.reason == "new"
    async with talk.pool.connection() as conn:
        assert await stored.memory(conn, talk.user, known) is None
