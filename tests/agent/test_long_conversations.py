"""Conversations that outgrow the model's window: summarised before that, and never cut in silence."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from alicia import ids
from alicia.engine.prompt import estimate
from alicia.protocol.messages import ControlVariation, MemoryTrace, StartAnswer
from alicia.storage.memories import memories
from alicia.storage.pool import Pool
from support.device import Device, device
from support.scripted import Request
from support.stack import Stack
from support.tables import journal, rows

pytestmark = pytest.mark.timeout(180)

FILLING = "This sentence fills the window and says nothing else. " * 40
MINUTES = "The points, at most"


def points(request: Request) -> dict[str, Any] | None:
    """Minutes as a good model would write them: the sentences that matter."""
    if MINUTES not in request.user_text:
        return None
    lines = [line.lstrip("- ") for line in request.user_text.splitlines() if "parrot" in line]
    return {"points": [line.split(" This sentence")[0] for line in lines][:1]}


async def fill(each: Device, count: int, start: int = 0) -> None:
    """So many exchanges that say nothing."""
    for number in range(start, start + count):
        await each.ask(f"Number {number}. {FILLING}")


async def summarised(each: Device, action: str = "stored") -> MemoryTrace:
    return await each.hears(
        MemoryTrace, lambda body: body.memory_type == "conversation_summary" and body.action == action
    )


async def ask_what(stack: Stack, each: Device) -> list[dict[str, Any]]:
    """The prompt of a further question, which fits the window."""
    await each.ask("What did I tell you?")
    prompt = stack.model.newest("What did I tell you?").messages
    window = stack.model.context_window
    assert sum(estimate(message["content"]) for message in prompt) <= window - window // 4
    return prompt


def left_out(prompt: list[dict[str, Any]]) -> bool:
    return "left out" in prompt[0]["content"]


@pytest.fixture
def terse(stack: Stack) -> Stack:
    """A stack whose model says little and takes good minutes."""
    stack.model.say("I see.", always=True)
    stack.model.make_json(points)
    return stack


async def test_older_messages_are_summarised_before_they_no_longer_fit(
    terse: Stack, user: str, pool: Pool
) -> None:
    async with device(terse, user) as alone:
        await alone.ask(f"My parrot is called Otto. {FILLING}")
        await fill(alone, 6)
        trace = await summarised(alone)
        assert "My parrot is called Otto." in trace.content
        prompt = await ask_what(terse, alone)
        assert "in short:\n- My parrot is called Otto." in prompt[0]["content"]
        assert not left_out(prompt)
        (memory,) = await stored(pool, user)
        assert memory.id == trace.memory_id
        told = re.search(r"\[The first (\d+) messages", prompt[0]["content"])
        assert told is not None
        # What it covers and what is there word for word make up the whole conversation.
        assert int(told[1]) + len(prompt) - 1 == 2 * 8 - 1
        # It may have rolled on since, and may do so now.
        assert memory.source_info["covers"]["messages"] >= int(told[1])
        held = await journal(pool, alone.id)
        await alone.until(lambda: len(alone.log) >= len(held))
        assert alone.log[: len(held)] == held
        retrieved = [each for each in alone.all(MemoryTrace) if each.action == "retrieved"]
        assert retrieved == []


async def test_another_agent_reads_the_summary_back(terse: Stack, user: str, pool: Pool) -> None:
    async with device(terse, user) as alone:
        await alone.ask(f"My parrot is called Otto. {FILLING}")
        await fill(alone, 6)
        await summarised(alone)
    await until(lambda: released(pool, alone.id))
    async with device(terse, user, alone.id, from_head=True) as back:
        prompt = await ask_what(terse, back)
        assert "- My parrot is called Otto." in prompt[0]["content"]
        assert not left_out(prompt)


async def test_with_memory_off_the_summary_is_the_conversations_own(
    terse: Stack, user: str, pool: Pool
) -> None:
    async with terse.caller(user) as api, device(terse, user) as alone:
        await api.patch(f"/conversations/{alone.id}", json={"preferences": {"memory": False}})
        await alone.ask(f"My parrot is called Otto. {FILLING}")
        await fill(alone, 6)
        await until(lambda: in_meta(pool, alone.id))
        prompt = await ask_what(terse, alone)
        assert "- My parrot is called Otto." in prompt[0]["content"]
        assert alone.all(MemoryTrace) == []
        assert await stored(pool, user) == []


async def test_an_edit_far_back_takes_back_what_the_summary_says_of_the_branch_that_is_left(
    terse: Stack, user: str, pool: Pool
) -> None:
    async with device(terse, user) as alone:
        await fill(alone, 1)
        told = await alone.say(f"My parrot is called Otto. {FILLING}")
        await alone.answered(told)
        await fill(alone, 6, 1)
        await summarised(alone)
        edit = ControlVariation(
            conversation_id=alone.id,
            id=ids.new(ids.MessageId),
            target_id=told.id,
            mode="edit",
            content="I have no pets.",
        )
        await alone.submit(edit)
        start = await alone.hears(StartAnswer, lambda body: body.previous_id == edit.id)
        await alone.closed(start.id)
        prompt = await ask_what(terse, alone)
        said = [message["content"] for message in prompt]
        assert "parrot" not in str(said)
        assert said[1].partition("\n\n")[2].startswith("Number 0.")
        assert said[3].startswith("I have no pets.")
        await until(lambda: no_summary(pool, user))


async def test_an_erased_message_takes_the_summary_with_it(terse: Stack, user: str, pool: Pool) -> None:
    async with terse.caller(user) as api, device(terse, user) as alone:
        told = await alone.say(f"My parrot is called Otto. {FILLING}")
        await alone.answered(told)
        await fill(alone, 6)
        first = await summarised(alone)
        gone = await api.delete(f"/conversations/{alone.id}/messages/{told.id}")
        assert gone.status_code == 204
        again = await alone.hears(
            MemoryTrace, lambda body: body.action == "stored" and body.memory_id != first.memory_id
        )
        assert again.memory_type == "conversation_summary"
        prompt = await ask_what(terse, alone)
        assert "parrot" not in str(prompt)
        assert not left_out(prompt)
    left = """
        SELECT m.content, mu.content
          FROM alicia_memory m
          LEFT JOIN alicia_memory_used mu ON mu.memory_id = m.id
         WHERE m.created_by = %s
    """
    assert "Otto" not in str(await rows(pool, left, user))


async def test_a_summary_that_its_user_deletes_is_used_no_more(terse: Stack, user: str, pool: Pool) -> None:
    async with terse.caller(user) as api, device(terse, user) as alone:
        await alone.ask(f"My parrot is called Otto. {FILLING}")
        await fill(alone, 6)
        trace = await summarised(alone)
        terse.model.make_json(
            lambda request: {"points": ["Nothing."]} if MINUTES in request.user_text else None
        )
        assert (await api.delete(f"/memories/{trace.memory_id}")).status_code == 204
        await alone.ask("Well?")
        await alone.hears(
            MemoryTrace, lambda body: body.action == "stored" and body.memory_id != trace.memory_id
        )
        assert "parrot" not in (await ask_what(terse, alone))[0]["content"]


async def stored(pool: Pool, user: str) -> list[Any]:
    async with pool.connection() as conn:
        return await memories(conn, user, memory_type="conversation_summary")


async def no_summary(pool: Pool, user: str) -> bool:
    return await stored(pool, user) == []


async def in_meta(pool: Pool, conversation_id: str) -> bool:
    sql = "SELECT value FROM alicia_meta WHERE ref = %s AND key = 'summary'"
    return bool(await rows(pool, sql, conversation_id))


async def released(pool: Pool, conversation_id: str) -> bool:
    """Whether the agent has left the conversation."""
    sql = "SELECT 1 FROM alicia_conversations WHERE id = %s AND agent_id IS NULL"
    return bool(await rows(pool, sql, conversation_id))


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until the database says so."""
    async with asyncio.timeout(60):
        while True:
            if await holds():
                return
            await asyncio.sleep(0.05)
