"""Devices that leave at any moment come back to the whole log."""

import asyncio
from itertools import pairwise

from alicia import ids
from alicia.protocol.envelope import decode
from alicia.protocol.messages import AssistantSentence, StartAnswer, UserMessage
from alicia.storage.pool import Pool
from support.device import Device, device, knock
from support.long_thought import long_thought
from support.scripted import Reasoning, Script, Text
from support.stack import Stack
from support.tables import journal

TWENTY = " ".join(f"This is sentence number {number}." for number in range(1, 21))


async def leave_after(stack: Stack, user: str, log: list[bytes], conversation_id: str) -> list[bytes]:
    """Come back, take one more stanza or what there is, and drop out without a word."""
    async with device(stack, user, conversation_id, log=log) as back:
        await back.until(lambda: len(back.log) > len(log))
        return back.log


async def test_a_device_that_drops_at_every_stanza_of_an_answer_has_all_of_it_in_the_end(
    stack: Stack, user: str, pool: Pool
) -> None:
    thinking = Script(Reasoning("Think about it.\n\nThink again."), Text(TWENTY))
    stack.model.chat(thinking, when="Count to twenty")
    async with device(stack, user) as whole:
        answer_id = await whole.ask("Count to twenty")
    stanzas = whole.log
    assert stanzas == await journal(pool, whole.id)
    assert len(stanzas) == 2 + 2 + 20

    async def rejoin(count: int) -> list[bytes]:
        async with device(stack, user, whole.id, log=stanzas[:count]) as back:
            await back.closed(answer_id)
            return back.log

    for start in range(0, len(stanzas), 6):
        counts = range(start, min(start + 6, len(stanzas)))
        for log in await asyncio.gather(*(rejoin(count) for count in counts)):
            assert log == stanzas


async def test_a_device_that_drops_and_returns_during_an_answer_misses_nothing(
    stack: Stack, user: str, pool: Pool
) -> None:
    held = stack.model.hold(TWENTY, when="Count to twenty")
    words = len(TWENTY.split())
    async with device(stack, user) as watcher, device(stack, user, watcher.id) as first:
        await watcher.say("Count to twenty")
        start = await first.hears(StartAnswer)
        log = first.log
        await first.room.leave()
        for count in range(1, 6):
            held.release(words // 5)
            if count == 5:
                held.release_all()
            await watcher.until(lambda count=count: len(watcher.all(AssistantSentence)) >= 4 * count - 1)
            log = await leave_after(stack, user, log, watcher.id)
        async with device(stack, user, watcher.id, log=log) as last:
            await last.closed(start.id)
            await watcher.closed(start.id)
            assert last.log == watcher.log == await journal(pool, watcher.id)


async def test_a_device_that_was_away_for_ten_thousand_stanzas_is_complete(
    stack: Stack, user: str, pool: Pool, room: ids.ConversationId
) -> None:
    answer_id = await long_thought(pool, user, room, 10_000)
    async with device(stack, user, room) as back:
        await back.closed(answer_id)
        assert back.log == await journal(pool, room)
        assert chained(back)


async def test_a_device_with_a_cursor_from_elsewhere_gets_everything_again(
    stack: Stack, user: str, pool: Pool
) -> None:
    async with device(stack, user) as first:
        await first.ask("Hi")
    async with device(stack, user) as other:
        await other.ask("Another conversation")
        await other.ask("with a longer log")
        # What is not stored has its numbers, too, so that the ends of the two may meet.
        while decode(other.log[-1]).stanza_id in [decode(data).stanza_id for data in first.log]:
            await other.ask("and longer")
    async with device(stack, user, first.id, log=other.log) as lost:
        await lost.until(lambda: lost.log == first.log)
        assert lost.log == await journal(pool, first.id)


async def test_a_device_without_a_cursor_starts_at_the_head(stack: Stack, user: str) -> None:
    async with device(stack, user) as first:
        await first.ask("Hi")
    async with device(stack, user, first.id, from_head=True) as late:
        assert late.log == []
        await late.ask("Again")
        assert isinstance(late.bodies[0], UserMessage)
        assert decode(late.log[0]).previous_stanza_id == decode(first.log[-1]).stanza_id


def chained(each: Device) -> bool:
    """Whether every durable stanza names the one before it."""
    envelopes = [decode(data) for data in each.log]
    return all(later.previous_stanza_id == earlier.stanza_id for earlier, later in pairwise(envelopes))


async def test_a_conversation_that_was_left_before_it_was_opened_is_opened_by_its_id(
    stack: Stack, user: str, pool: Pool
) -> None:
    given = (await knock(stack, user))["conversationId"]
    async with device(stack, user, given) as late:
        await late.ask("Is it mine still?")
        assert late.log == await journal(pool, late.id)
    async with device(stack, user, given) as again:
        await again.until(lambda: again.log == late.log)
