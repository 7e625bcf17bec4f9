"""What is done while nobody waits: a title, lessons from the user's words, a summary before it is needed.

All of it asks the model that also answers, so a question cancels it at once and the next pause goes on with
it. Only a write that has begun is finished first, which takes milliseconds.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import structlog

from alicia.engine.broadcast import PAUSE, Broadcast
from alicia.engine.history import History
from alicia.engine.pauses import Pauses
from alicia.engine.ports import Lessons
from alicia.engine.summary import Read, RollingSummary
from alicia.engine.title import first_words, make_title
from alicia.errors import DatabaseUnavailable, ModelUnavailable, StandDown
from alicia.ids import ConversationId
from alicia.ledger.entries import Entry
from alicia.llm.messages import Message
from alicia.memory.extraction import Completer
from alicia.memory.learning import Lesson, Turn
from alicia.storage.conversations import conversation, entitle
from alicia.storage.lessons import Unlearned, mark_learned, unlearned
from alicia.storage.pool import AWAY, Pool

log = structlog.get_logger(__name__)

CAUGHT_UP: Final = 10
"""How many messages are learned from at most in one pause: what bursts of questions or a crash left over."""
TRIES: Final = 3
"""How often the model may fail over one message, or find no title, before it is let be."""


class Afterwards:
    """The pauses of one conversation. `run` owns the one task that works in them."""

    def __init__(
        self,
        line: Broadcast,
        history: History,
        idle: asyncio.Event,
        quiet: asyncio.Event,
        *,
        pool: Pool,
        model: Completer,
        lessons: Lessons,
        pauses: Pauses,
        budget: Callable[[], int],
        read: Read,
    ) -> None:
        self._line = line
        self._history = history
        self._idle = idle
        self._pool = pool
        self._model = model
        self._lessons = lessons
        self._pauses = pauses
        self._id: ConversationId = line.session.conversation_id
        self._summary = RollingSummary(
            self._id,
            history,
            pool=pool,
            model=model,
            budget=budget,
            read=read,
            store=line.emit,
            whole=self._whole,
        )
        self._quiet = quiet
        self._owner = ""
        self._due = asyncio.Event()
        self._pausing = asyncio.Lock()
        self._work: asyncio.Task[None] | None = None
        self._storing = False
        self._interrupted = False
        self._closed = False
        self._titled = False
        self._title_tries = 0
        self._failures: dict[str, int] = {}

    async def begin(self, owner: str) -> None:
        """Read the conversation back; what an earlier agent left to be done is done in the first pause."""
        self._owner = owner
        await self._summary.load(owner)
        self._due.set()

    async def reload(self) -> None:
        """Read the conversation back again: what was said long ago has changed.

        A database that is away is waited for.
        """
        self.put_off()
        while True:
            try:
                return await self._summary.load(self._owner)
            except AWAY:
                log.warning("database away", conversation_id=self._id)
                await asyncio.sleep(PAUSE)

    def interrupt(self) -> None:
        """Somebody asks: leave the model to them. What is undone is due in the next pause."""
        if not self._closed:
            self._pauses.asked(self)
        self.put_off()

    def put_off(self) -> None:
        """Leave the model at once, and go on in the next pause."""
        self._due.set()
        if self._work is not None:
            self._interrupted = True
            if not self._storing:
                self._work.cancel()

    @asynccontextmanager
    async def halted(self) -> AsyncGenerator[None]:
        """In here nothing is done or written: what was being done has ended, and the next pause waits."""
        self.put_off()
        async with self._pausing:
            yield

    @property
    def busy(self) -> bool:
        """Whether something is being done or is due."""
        return self._work is not None or self._due.is_set()

    def close(self) -> None:
        """The conversation is left: nobody waits for an answer in it here, whatever is heard to the last."""
        self._closed = True
        self._pauses.answered(self)

    async def run(self) -> None:
        """Forever: wait for a pause with something due in it, and do it."""
        while True:
            await self._due.wait()
            await self._idle.wait()
            await self._quiet.wait()
            self._pauses.answered(self)
            if not self._pauses.free(self):
                # Whoever asks here meanwhile must be counted as answered again, or all would wait for ever.
                await self._pauses.change()
                continue
            async with self._pausing:
                # Somebody may have asked between the end of a wait and now, and may have been answered.
                if self._idle.is_set() and self._quiet.is_set() and self._pauses.free(self):
                    self._pauses.answered(self)
                    self._due.clear()
                    await self._pause()

    async def _pause(self) -> None:
        self._interrupted = False
        self._work = asyncio.create_task(self._catch_up())
        self._pauses.begin(self)
        try:
            await asyncio.wait([self._work])
            if not self._work.cancelled():
                self._work.result()
        finally:
            self._pauses.end(self)
            self._work.cancel()
            await asyncio.wait([self._work])
            self._work = None

    async def _catch_up(self) -> None:
        # Somebody who asks again and again must not keep the summary from being made: it comes first.
        for step in (self._roll, self._entitle, self._learn):
            try:
                await step()
            except StandDown:
                raise
            except ModelUnavailable as error:
                log.warning("put off", conversation_id=self._id, reason=error.reason)
            except (DatabaseUnavailable, *AWAY) as error:
                log.warning("database away", conversation_id=self._id, reason=type(error).__name__)
            except Exception:
                # Nothing that goes wrong here may take the conversation down with it.
                log.exception("pause work failed", conversation_id=self._id)

    async def _entitle(self) -> None:
        """Name the conversation after its first exchange, unless its user has."""
        opening = self._history.opening()
        if self._titled or self._title_tries >= TRIES or len(opening) < 2:
            return
        async with self._pool.connection() as conn:
            row = await conversation(conn, self._owner, self._id)
        self._titled = row is None or row.title != ""
        if self._titled:
            return
        try:
            title = await make_title(self._model, opening)
        except ModelUnavailable:
            title = first_words(opening)
        self._title_tries += 1
        if title:
            with self._whole():
                async with self._pool.connection() as conn:
                    await entitle(conn, self._owner, self._id, title)
                self._titled = True

    async def _learn(self) -> None:
        async with self._pool.connection() as conn:
            waiting = await unlearned(conn, self._owner, self._id, CAUGHT_UP)
        for message in waiting:
            lesson = await self._learn_from(message)
            for contradiction in lesson.contradictions:
                self._history.ask_about(contradiction.question)
            await self._mark(message)

    async def _learn_from(self, message: Unlearned) -> Lesson:
        async def store(entries: Sequence[Entry]) -> None:
            with self._whole():
                await self._line.emit(*entries)
                await self._mark(message)

        turn = Turn(
            user_id=self._owner,
            conversation_id=self._id,
            message_id=message.id,
            text=message.contents,
            before=[Message("assistant", message.before)] if message.before else [],
        )
        try:
            return await self._lessons.learn(turn, store)
        except ModelUnavailable:
            failures = self._failures[message.id] = self._failures.get(message.id, 0) + 1
            if failures < TRIES:
                raise
            log.warning("nothing learned", conversation_id=self._id, message_id=message.id)
            return Lesson()

    async def _roll(self) -> None:
        await self._summary.roll(self._owner)

    @contextmanager
    def _whole(self) -> Generator[None]:
        """In here no question cancels: it is heeded after it."""
        self._storing = True
        try:
            yield
        finally:
            self._storing = False
            if self._interrupted and self._work is not None:
                self._work.cancel()

    async def _mark(self, message: Unlearned) -> None:
        async with self._pool.connection() as conn:
            await mark_learned(conn, self._id, message.sequence_number)
