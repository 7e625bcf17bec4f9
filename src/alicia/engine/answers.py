"""The questions of a conversation, answered one after the other, whoever is there."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Final
from weakref import WeakSet

import structlog
from msgspec.structs import replace

from alicia import ids
from alicia.engine.broadcast import Broadcast
from alicia.engine.history import History
from alicia.engine.prompt import Turn
from alicia.engine.turn import Answer, Question
from alicia.ids import MessageId
from alicia.protocol.messages import UserMessage
from alicia.telemetry import metrics, tracing

log = structlog.get_logger(__name__)


class Answers:
    """A queue with one answer running.

    `make` begins the answer to a question; `asked` is told of each question, at once; `reread` has the
    history read back, when what holds of it is no longer here.
    """

    def __init__(
        self,
        make: Callable[[Question], Answer],
        line: Broadcast,
        history: History,
        *,
        asked: Callable[[], None],
        reread: Callable[[], Awaitable[None]],
    ) -> None:
        self.idle = asyncio.Event()
        """Nothing is asked that is not answered."""
        self.idle.set()
        self.placing = asyncio.Lock()
        """Held from when it is seen what a message follows on until it is stored and heard: what is typed and
        what is said at the same time must not both follow on the same message, nor on one that is left."""
        self._make = make
        self._notice = asked
        self._reread = reread
        self._line = line
        self._history = history
        self._questions: deque[Question] = deque()
        _all.add(self)
        self._asked = asyncio.Event()
        self._running: Answer | None = None
        self._over = asyncio.Event()
        """Nothing more comes of the answer that ran last."""
        self._begun: dict[str, Answer] = {}
        """Answers that were begun before their questions were sure."""

    def ask(self, question: Question) -> None:
        self._questions.append(question)
        self.idle.clear()
        self._asked.set()
        self._notice()

    @property
    def waiting(self) -> int:
        """How many questions have not been begun."""
        return len(self._questions)

    @property
    def running(self) -> MessageId | None:
        """The answer that is on its way."""
        return self._running.id if self._running is not None else None

    def tip(self) -> MessageId | None:
        """What is said next follows on this: an answer from when it is being stored, or what came last."""
        tip, running = self._history.tip(), self._running
        if running is None or not running.begun or running.superseded:
            return tip
        return running.id if running.question.message_id == tip else tip

    def answer_to(self, target_id: MessageId) -> MessageId:
        """The running answer where its question is meant, else the target itself."""
        running = self._running
        return running.id if running is not None and running.question.message_id == target_id else target_id

    def hear(self, message: UserMessage, device: str | None, begun: Answer | None = None) -> None:
        """A user's message is stored: it is answered in its turn, by the answer that was begun if one was."""
        if message.supersedes is not None:
            self.leave_branch(message.supersedes)
        self._history.add(
            Turn(
                id=message.id,
                role="user",
                text=message.content,
                previous_id=message.previous_id,
                at=datetime.now(UTC),
            )
        )
        taken = tracing.here()
        question = Question(
            message_id=message.id,
            answer_id=ids.new(MessageId) if begun is None else begun.id,
            device=device,
            trace=taken and taken.context,
            asked_at=time.monotonic(),
        )
        if begun is not None:
            begun.question = question
            self._begun[message.id] = begun
        self.ask(question)

    def stop(self, target_id: str) -> None:
        """End the answer with this id, or to this message; one that waits for its turn ends as it begins."""
        running = self._running
        if running is not None and target_id in (running.id, running.question.message_id):
            running.stop()
        self._questions = deque(
            replace(each, stopped=True) if target_id in (each.answer_id, each.message_id) else each
            for each in self._questions
        )

    def leave_branch(self, target_id: str) -> None:
        """Nothing of the branch that begins with this message is answered any more."""
        self._history.supersede(target_id)
        self._leave([target_id])

    def answer_again(
        self, question_id: MessageId, target_id: MessageId, new_id: MessageId, device: str
    ) -> None:
        """Answer a question once more in place of the target, and of any other answer that is on its way."""
        running = self._running
        if running is not None and running.question.message_id == question_id:
            superseded = running.id
        else:
            superseded = self._history.answer_to(question_id) or target_id
        self._history.supersede(target_id, question_id)
        self._leave([target_id], question_id)
        taken = tracing.here()
        self.ask(
            Question(
                message_id=question_id,
                answer_id=new_id,
                supersedes=superseded,
                device=device,
                trace=taken and taken.context,
                asked_at=time.monotonic(),
            )
        )

    async def forget(self, erased: Sequence[str]) -> None:
        """What was erased is not answered any more, and no later answer knows of it.

        Waits until nothing more is written to it.
        """
        self._forget(erased)
        async with self.placing:
            # What was just being stored is known now.
            self._forget(erased)
        if self._running is not None and self._running.superseded:
            await self._over.wait()

    def _forget(self, erased: Sequence[str]) -> None:
        self._history.forget(erased)
        self._leave(erased)

    def _leave(self, gone: Sequence[str], question_id: str | None = None) -> None:
        def left(question: Question) -> bool:
            return (
                question.answer_id in gone
                or question.message_id == question_id
                or self._history.superseded(question.message_id)
            )

        running = self._running
        if running is not None and left(running.question):
            running.superseded = True
            running.stop()
        # What another agent has begun must be closed, though nobody wants it any more.
        self._questions = deque(
            replace(each, stopped=True, superseded=True) if left(each) else each
            for each in self._questions
            if each.begun or not left(each)
        )

    async def settled(self) -> None:
        """Wait until nothing is being placed, and all that was is answered."""
        while True:
            async with self.placing:
                if self.idle.is_set():
                    return
            await self.idle.wait()

    async def run(self) -> None:
        """Forever, in the order in which they were asked."""
        while True:
            while not self._questions:
                self.idle.set()
                self._asked.clear()
                await self._asked.wait()
            if self._history.stale:
                await self._begin_anew()
                continue
            question = self._questions.popleft()
            if not self._history.holds(question.message_id):
                # It was erased: of that only what others have seen has an end.
                if not question.begun:
                    continue
                question = replace(question, stopped=True)
            self._running = self._begun.pop(question.message_id, None) or self._make(question)
            self._over.clear()
            try:
                await self._finish(self._running)
            finally:
                self._running = None
                self._over.set()

    async def _begin_anew(self) -> None:
        """Read back what holds; answers that were begun on something else are begun once more."""
        while self._begun:
            _, begun = self._begun.popitem()
            await begun.abandon()
        await self._reread()

    async def _finish(self, answer: Answer) -> None:
        conversation_id = self._line.session.conversation_id
        both = {"conversation_id": conversation_id, "message_id": answer.id}
        with tracing.turn("answer", answer.question.trace, **both):
            log.info("answer started", **both)
            await answer.run()
            log.info("answer ended", **both, status=answer.status)
        metrics.turns.labels(answer.status).inc()
        self._history.add(
            Turn(
                id=answer.id,
                role="assistant",
                text=answer.text,
                previous_id=answer.question.message_id,
                superseded=answer.superseded,
                used=answer.used,
            )
        )


_all: Final[WeakSet[Answers]] = WeakSet()
metrics.questions_waiting.set_function(lambda: sum(each.waiting for each in _all))
