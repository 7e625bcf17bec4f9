"""The rolling summary of one conversation: read back with its history, and made before it is needed."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from itertools import accumulate
from typing import Final

import structlog

from alicia import ids
from alicia.engine.history import History
from alicia.engine.minutes import write_minutes
from alicia.engine.prompt import Turn, weigh
from alicia.ids import ConversationId, MemoryId, MessageId
from alicia.ledger.entries import Entry
from alicia.memory.changes import Change
from alicia.memory.extraction import Completer
from alicia.storage.memories import NewMemory, delete_memory
from alicia.storage.messages import Message
from alicia.storage.pool import Pool
from alicia.storage.summaries import (
    MEMORY_TYPE,
    Stage,
    Summary,
    count_uncovered,
    keep_in_meta,
    source_info,
    stored_summary,
    uncovered,
)
from alicia.storage.switch import memory_is_on

log = structlog.get_logger(__name__)

AT_ONCE: Final = 100
"""How many messages are looked at for one step."""
PIECE: Final = 3
"""One part in so many of a prompt is what one step turns into minutes."""
STAGES: Final = 4
"""How many stages are kept: an edit that undoes the newest goes back to one before it."""


Read = Callable[[], Awaitable[Sequence[Turn]]]
"""Reads the newest messages of a conversation back, as many as are ever held."""


class RollingSummary:
    """Reads a conversation's history with its summary, and folds what grows too long.

    `read` gives the messages, `store` appends entries to the conversation, `budget` tells how many tokens a
    prompt may have. In `whole` nothing cancels: what is stored there is known here, too.
    """

    def __init__(
        self,
        conversation_id: ConversationId,
        history: History,
        *,
        pool: Pool,
        model: Completer,
        budget: Callable[[], int],
        read: Read,
        store: Callable[[Entry], Awaitable[None]],
        whole: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._id = conversation_id
        self._history = history
        self._pool = pool
        self._model = model
        self._budget = budget
        self._read = read
        self._store = store
        self._whole = whole

    async def load(self, owner: str) -> None:
        """Read the newest messages back, and the summary as far as it still holds.

        When a branch is left meanwhile, what was read may hold it: then it is read again.
        """
        while True:
            left = self._history.left
            held, newest, missing = await self._read_back(owner)
            if left == self._history.left:
                return self._history.load(held, newest, missing)

    async def roll(self, owner: str) -> None:
        """Fold until history is short enough; each step is stored by itself."""
        summary = await self._stored(owner)
        if summary.stale:
            with self._whole():
                summary = await self._keep(owner, summary, summary.stages)
        if next(iter(summary.stages), None) != self._history.summary:
            # Its user has edited or deleted it.
            await self.load(owner)
        while (excess := self._history.excess()) > 0:
            stage, left = self._history.summary, self._history.left
            async with self._pool.connection() as conn:
                rows = await uncovered(conn, owner, self._id, stage and stage.through, AT_ONCE)
            budget = self._budget()
            piece = _oldest([_turn(row) for row in rows], min(excess, budget // PIECE))
            if not piece:
                return
            text = await write_minutes(self._model, stage.text if stage else "", piece, budget)
            covered = (stage.messages if stage else 0) + len(piece)
            new = Stage(text=text, through=MessageId(piece[-1].id), messages=covered)
            earlier = [] if stage is None else [stage, *summary.stages[1:]]
            with self._whole():
                if not _same(await self._stored(owner), summary):
                    # Its user has changed it while it was being written; the next pause begins with that.
                    return
                summary = await self._keep(owner, summary, [new, *earlier][:STAGES])
                if left != self._history.left:
                    # It may tell of what was left while it was being written.
                    self._history.stale = True
                    return
                self._history.fold(new)
            log.info("conversation folded", conversation_id=self._id, messages=covered)

    async def _stored(self, owner: str) -> Summary:
        async with self._pool.connection() as conn:
            memory = await memory_is_on(conn, owner, self._id)
            return await stored_summary(conn, owner, self._id, memory=memory)

    async def _read_back(self, owner: str) -> tuple[Sequence[Turn], Stage | None, int]:
        """The messages after the summary, that, and how many are missing between the two."""
        newest = next(iter((await self._stored(owner)).stages), None)
        turns = await self._read()
        held = _after(turns, newest)
        missing = 0
        if held and len(held) == len(turns):
            # Nothing of what the summary covers was read, so there may be more between the two.
            async with self._pool.connection() as conn:
                since = await count_uncovered(conn, owner, self._id, newest and newest.through)
            missing = max(0, since - len(held))
        return held, newest, missing

    async def _keep(self, owner: str, summary: Summary, stages: Sequence[Stage]) -> Summary:
        """Make these the stored ones: in memory, or in the conversation's meta where memory is off."""
        async with self._pool.connection() as conn:
            if not await memory_is_on(conn, owner, self._id):
                await keep_in_meta(conn, self._id, stages)
                return Summary(stages=stages)
            if not stages:
                await keep_in_meta(conn, self._id, ())
                if summary.memory_id:
                    await delete_memory(conn, owner, summary.memory_id)
                return Summary()
        memory_id = summary.memory_id or ids.new(MemoryId)
        memory = NewMemory(
            content=stages[0].text,
            source_type="conversation",
            source_info=source_info(self._id, stages),
            memory_type=MEMORY_TYPE,
        )
        reason = "changed" if summary.memory_id else "new"
        change = Change(memory_id=memory_id, memory=memory, reason=reason)
        await self._store(change.entry(self._id, stages[0].through))
        return Summary(stages=stages, memory_id=memory_id)


def _same(one: Summary, other: Summary) -> bool:
    """Whether both say the same, in the same place."""
    return one.memory_id == other.memory_id and [*one.stages[:1]] == [*other.stages[:1]]


def _after(turns: Sequence[Turn], stage: Stage | None) -> Sequence[Turn]:
    """What comes after the messages that a summary covers."""
    place = next((n for n, turn in enumerate(turns, 1) if stage and turn.id == stage.through), 0)
    return turns[place:]


def _oldest(turns: Sequence[Turn], tokens: int) -> Sequence[Turn]:
    """Whole exchanges from the beginning, until they have so many tokens; never the last one."""
    starts = [n for n, turn in enumerate(turns) if turn.role == "user" and n > 0]
    reached = list(accumulate(weigh([turn]) for turn in turns))
    end = next((start for start in starts if reached[start - 1] >= tokens), starts[-1] if starts else 0)
    return turns[:end]


def _turn(row: Message) -> Turn:
    role = "user" if row.message_role == "user" else "assistant"
    return Turn(id=row.id, role=role, text=row.contents, previous_id=row.previous_id)
