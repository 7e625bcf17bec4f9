"""A conversation that is read back or summed up while a branch of it is left."""

from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Any

import pytest

from alicia import ids
from alicia.engine.history import History
from alicia.engine.prompt import Turn
from alicia.engine.summary import RollingSummary
from alicia.engine.taking_on import read_turns
from alicia.ledger.entries import Entry
from alicia.protocol.messages import ControlVariation, UserMessage
from alicia.storage.memories import Memory, memories, update_memory
from alicia.storage.pool import Pool
from alicia.storage.summaries import MEMORY_TYPE
from support.talk import Talk


class Writer:
    """A model that notes the same of everything; `meanwhile` happens while it writes."""

    meanwhile: Callable[[], Awaitable[object]] | None = None

    async def complete(self, *_: object, **__: object) -> Any:
        if self.meanwhile is not None:
            await self.meanwhile()
        return {"points": ["They talked."]}


class Table:
    """A conversation of three exchanges, and what is known of it; `meanwhile` happens in the middle."""

    def __init__(self, talk: Talk, budget: int) -> None:
        self.talk = talk
        self.asked: list[UserMessage] = []
        self.history = History(lambda: budget)
        self.meanwhile: Callable[[], Awaitable[None]] | None = None
        self.writer = Writer()
        self.summary = RollingSummary(
            talk.id,
            self.history,
            pool=talk.pool,
            model=self.writer,
            budget=lambda: budget,
            read=self._read,
            store=self._store,
            whole=nullcontext,
        )

    async def _read(self) -> list[Turn]:
        async with self.talk.pool.connection() as conn:
            turns = await read_turns(conn, self.talk.user, self.talk.id)
        await self._happen()
        return turns

    async def _store(self, entry: Entry) -> None:
        await self._happen()
        await self.talk.append(entry)

    async def _happen(self) -> None:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()

    async def edit(self) -> None:
        """The second question is asked otherwise, as the agent takes that."""
        first, second = self.asked[0], self.asked[1]
        change = ControlVariation(
            conversation_id=self.talk.id,
            id=ids.new(ids.MessageId),
            target_id=second.id,
            mode="edit",
            content="Otherwise?",
        )
        edited = self.talk.user_message("Otherwise?", id=change.id, supersedes=second.id)
        await self.talk.append(change, edited)
        self.history.supersede(second.id)
        self.history.add(Turn(id=edited.id, role="user", text=edited.content, previous_id=first.id))

    def told(self) -> list[str]:
        """What is said to a model before the newest message."""
        earlier, _ = self.history.before(str(self.history.tip()))
        return [message.content.split()[0] for message in earlier]


@pytest.fixture
async def table(pool: Pool, user: str) -> Table:
    talk = await Talk.open(pool, user)
    made = Table(talk, budget=1200)
    for word in ("Zero", "One", "Two"):
        asked, _ = await talk.exchange(f"{word} " + "very long " * 60, f"{word}.")
        made.asked.append(asked)
    return made


async def test_what_is_left_while_a_conversation_is_read_back_stays_left(table: Table) -> None:
    table.meanwhile = table.edit
    await table.summary.load(table.talk.user)
    assert table.told() == ["Zero", "Zero."]


async def test_a_summary_of_what_is_left_while_it_is_written_is_not_told(table: Table) -> None:
    await table.summary.load(table.talk.user)
    assert table.history.excess() > 0
    table.meanwhile = table.edit
    await table.summary.roll(table.talk.user)
    assert table.history.summary is None
    assert table.history.stale
    assert table.told() == ["Zero", "Zero."]
    await table.summary.load(table.talk.user)
    assert not table.history.stale
    assert table.told() == ["Zero", "Zero."]


async def test_what_its_user_writes_into_a_summary_while_it_goes_on_stays(table: Table) -> None:
    talk = table.talk
    await table.summary.load(talk.user)
    await table.summary.roll(talk.user)
    (known,) = await summaries(talk)

    async def correct() -> None:
        async with talk.pool.connection() as conn:
            await update_memory(conn, talk.user, known.id, content="They sang.")

    table.writer.meanwhile = correct
    for word in ("Three", "Four"):
        await talk.exchange(f"{word} " + "very long " * 60, f"{word}.")
    await table.summary.load(talk.user)
    await table.summary.roll(talk.user)
    assert [each.content for each in await summaries(talk)] == ["They sang."]
    table.writer.meanwhile = None
    await table.summary.roll(talk.user)
    (known,) = await summaries(talk)
    assert known.content.splitlines() == ["They sang.", "- They talked."]
    assert table.history.summary is not None
    assert table.history.summary.text == known.content


async def summaries(talk: Talk) -> list[Memory]:
    async with talk.pool.connection() as conn:
        return await memories(conn, talk.user, memory_type=MEMORY_TYPE)
