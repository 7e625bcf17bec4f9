"""One answer: remember, start, think, use tools, say, close."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import msgspec
import structlog

from alicia import ids
from alicia.engine.broadcast import Broadcast
from alicia.engine.history import History, go_on
from alicia.engine.ports import Recall, ToolBox
from alicia.engine.prompt import estimate
from alicia.engine.pump import Pump
from alicia.engine.sentences import Splitter
from alicia.engine.tool_rounds import Asked, ToolRounds
from alicia.errors import ErrorCode, ModelUnavailable
from alicia.ledger.entries import Entry
from alicia.ledger.entries import Recalled as Found
from alicia.llm.messages import Delta, Message, ReasoningDelta, TextDelta, ToolCall
from alicia.memory.memory import Recalled
from alicia.protocol.messages import (
    AnswerStatus,
    AssistantMessage,
    AssistantSentence,
    Body,
    ErrorMessage,
    MemoryTrace,
    ReasoningStep,
    StartAnswer,
)
from alicia.storage.tools import ToolUse
from alicia.telemetry import metrics
from alicia.telemetry.first_token import FirstToken
from alicia.telemetry.tracing import Context, past, span
from alicia.tools.client import ClientTools
from alicia.tools.decision.calling import CallingModel, Occasion
from alicia.tools.definition import Caller

log = structlog.get_logger(__name__)

RESULTS_SHARE: Final = 8
"""One part in so many of a prompt's tokens is for what tools give, however full it is without."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A user's message that wants an answer, and what is known of that answer."""

    message_id: ids.MessageId
    answer_id: ids.MessageId
    supersedes: ids.MessageId | None = None
    device: str | None = None
    """The identity of the device that asked."""
    begun: bool = False
    """StartAnswer is stored already: an agent died in mid-answer, and this one goes on."""
    stopped: bool = False
    """Only its end is wanted."""
    superseded: bool = False
    trace: Context | None = None
    """Where the user's message was taken, if that is traced."""
    asked_at: float | None = None
    """When, on this process's clock."""
    said: tuple[str, ...] = ()
    steps: int = 0
    uses: tuple[ToolUse, ...] = ()
    """The tool uses of an answer that was begun, ended or not."""


class Answer:
    """An answer on its way. `stop` ends it at once; what was sent stays."""

    def __init__(
        self,
        question: Question,
        *,
        user_id: str,
        line: Broadcast,
        history: History,
        model: CallingModel,
        recall: Recall,
        tools: ToolBox,
        client_tools: ClientTools,
        time_zone: str | None,
        budget: int,
        max_tokens: int,
        streaming: bool,
        expect: Callable[[AssistantSentence], None],
        say: Callable[[AssistantSentence], None],
    ) -> None:
        """`expect` is told the first sentence before it is stored, `say` each one after that."""
        self.question = question
        self.id = question.answer_id
        self.status: AnswerStatus = "completed"
        self.superseded = question.superseded
        self.begun = question.begun
        """Its opening is stored, or will be before whatever comes now."""
        self._user_id = user_id
        self._line = line
        self._history = history
        self._model = model
        self._recall = recall
        self._budget = budget
        self._max_tokens = max_tokens
        self._streaming = streaming
        self._expect = expect
        self._say_aloud = say
        self._conversation_id = line.session.conversation_id
        self._pump: Pump[Delta] = Pump()
        self._pump.watch = self._watch
        self._first_token = FirstToken()
        self._foresight: Callable[[Delta], None] | None = None
        self._splitter = Splitter()
        self._text = list(question.said)
        self._said_until = len(question.said)
        """How many of these the model has been told of."""
        self._speaking = False
        self._sentences = len(question.said)
        self._steps = question.steps
        self._prompt: list[Message] = []
        self._memories: list[Recalled] | None = None
        self._recall_seconds = 0.0
        self._preparing = asyncio.Lock()
        self._tools = tools
        caller = Caller(
            user_id=user_id,
            conversation_id=self._conversation_id,
            message_id=question.message_id,
            time_zone=time_zone,
        )
        asked = Asked(
            caller=caller, conversation_id=self._conversation_id, answer_id=self.id, device=question.device
        )
        self._rounds = ToolRounds(asked, line, tools, client_tools, self._next_step)
        if question.stopped:
            self.stop()

    def stop(self) -> None:
        self._pump.stop()
        self._rounds.stop()

    async def prepare(self) -> None:
        """Remember, and have the model begin. Of a new answer nothing is written or sent yet."""
        async with self._preparing:
            if self._memories is not None:
                return
            memories = await self._remember()
            self._read(memories)
            await self._rounds.recover(self.question.uses)
            self._think()
            self._memories = memories

    def foresee(self, tell: Callable[[str], None]) -> None:
        """Tell the first sentence as soon as the model has made it; it is neither stored nor sent by that."""
        splitter = Splitter()

        def watch(delta: Delta) -> None:
            if isinstance(delta, TextDelta) and (sentences := splitter.feed(delta.text)):
                self._foresight = None
                tell(sentences[0])

        self._foresight = watch

    async def abandon(self) -> None:
        """It is not wanted after all."""
        self.stop()
        await self._pump.aclose()

    async def run(self) -> None:
        try:
            guessed = self._preparing.locked() or self._memories is not None
            # The model reads its prompt while the opening is being stored.
            await self.prepare()
            if guessed:
                # That was begun before the question was sure, and so before there was a trace.
                past("recall", self._recall_seconds, message_id=self.id)
            if not self.question.begun:
                await self._start(self._memories or [])
            await self._say()
        finally:
            await self._pump.aclose()

    async def _remember(self) -> list[Recalled]:
        if self.question.begun:
            return []
        earlier, text = self._history.before(self.question.message_id)
        began = time.monotonic()
        try:
            with span("recall", message_id=self.id):
                found = await self._recall.recall(
                    self._user_id, earlier, text, conversation_id=self._conversation_id
                )
            self._recall_seconds = time.monotonic() - began
            metrics.memory_hits.observe(len(found))
            return found
        except Exception:
            # An answer without memories is better than none.
            log.exception("recall failed", message_id=self.id)
            return []

    async def _start(self, memories: list[Recalled]) -> None:
        opening = StartAnswer(
            conversation_id=self._conversation_id,
            id=self.id,
            previous_id=self.question.message_id,
            supersedes=self.question.supersedes,
        )
        # Whoever sees it may answer at once, before this goes on.
        self.begun = True
        await self._line.emit(Entry(opening), *(self._trace(memory) for memory in memories))

    def _trace(self, memory: Recalled) -> Entry:
        body = MemoryTrace(
            conversation_id=self._conversation_id,
            id=ids.new(ids.MemoryUseId),
            previous_id=self.question.message_id,
            memory_id=memory.memory_id,
            memory_type=memory.memory_type,
            action="retrieved",
            content=memory.content,
            confidence=memory.confidence,
            metadata={**memory.metadata, "answerId": self.id},
        )
        found = Found(
            query_prompt=memory.query_prompt,
            similarity_score=memory.similarity,
            position_in_results=memory.position,
            meta=memory.meta,
        )
        return Entry(body, private=found)

    def _read(self, memories: list[Recalled]) -> None:
        if not self._pump.stopped:
            self._prompt = self._history.prompt(self.question.message_id, memories, datetime.now(UTC))
            taken = sum(estimate(message.content) for message in self._prompt)
            self._rounds.make_room(max(self._budget - taken, self._budget // RESULTS_SHARE))

    def _watch(self, delta: Delta) -> None:
        if isinstance(delta, TextDelta | ReasoningDelta):
            self._first_token.come()
        if self._foresight is not None:
            self._foresight(delta)

    def _think(self) -> None:
        """Have the model begin, or go on with what its tools gave."""
        if self._pump.stopped:
            return
        earlier, text = self._history.before(self.question.message_id)
        occasion = Occasion(message=text, earlier=earlier, hints=self._tools.hints, used=self._rounds.used)
        prompt = [*self._prompt, *self._rounds.messages, *go_on(self.question.said)]
        self._first_token.ask()
        self._pump.start(
            self._model.stream(prompt, self._rounds.offers(), occasion, max_tokens=self._max_tokens)
        )

    async def _say(self) -> None:
        try:
            while calls := await self._listen():
                await self._use(calls)
                self._think()
        except ModelUnavailable as error:
            self.status = "failed"
            if not self._pump.stopped:
                await self._tell_failure(error)
        if self._pump.stopped:
            self.status = "stopped"
        await self._emit(*self._closing(self.status))

    async def _tell_failure(self, error: ModelUnavailable) -> None:
        """Before the answer is closed: whoever follows it to its end then knows why it ended."""
        log.warning("model failed", message_id=self.id, reason=error.reason)
        metrics.model_errors.inc()
        reason = f"{error}".rstrip(".")
        await self._line.tell_all(
            ErrorMessage(
                conversation_id=self._conversation_id,
                code=ErrorCode.UNAVAILABLE,
                message=f"{reason}. What was said so far is kept: ask again in a moment.",
                severity="error",
                recoverable=True,
                originating_id=self.id,
            )
        )

    async def _listen(self) -> list[ToolCall]:
        """Pass on what the model says until it has ended; what it wants to use before it goes on."""
        calls: list[ToolCall] = []
        with span("model", message_id=self.id):
            async for deltas in self._pump:
                calls += [delta for delta in deltas if isinstance(delta, ToolCall)]
                bodies = [body for delta in deltas for body in self._bodies(delta)]
                if bodies:
                    await self._emit(*bodies)
        return calls if self._rounds.left and not self._pump.stopped else []

    async def _use(self, calls: list[ToolCall]) -> None:
        """Run the tools; what was said before they were asked for ends its sentence there."""
        rest = self._splitter.flush()
        self._text += rest
        self._splitter, self._speaking = Splitter(), False
        if rest and self._streaming:
            await self._emit(*(self._sentence(text) for text in rest))
        said, self._said_until = "".join(self._text[self._said_until :]), len(self._text)
        await self._rounds.run(said.strip(), calls)

    def _bodies(self, delta: Delta) -> list[Body]:
        match delta:
            case ReasoningDelta(text):
                return [self._reasoning(text)]
            case TextDelta(text):
                return [self._sentence(sentence) for sentence in self._split(text)]
            case _:
                return []

    def _split(self, text: str) -> list[str]:
        if not self._speaking:
            text = text.lstrip()
            self._speaking = text != ""
            if text and self._text and not self._text[-1][-1:].isspace():
                text = f" {text}"
        sentences = self._splitter.feed(text)
        self._text += sentences
        return sentences if self._streaming else []

    def _next_step(self) -> int:
        """Thoughts and tool uses are numbered together."""
        self._steps += 1
        return self._steps

    def _reasoning(self, text: str) -> ReasoningStep:
        return ReasoningStep(
            conversation_id=self._conversation_id,
            id=ids.new(ids.ReasoningStepId),
            message_id=self.id,
            sequence=self._next_step(),
            content=text,
        )

    def _sentence(self, text: str, status: AnswerStatus | None = None) -> AssistantSentence:
        self._sentences += 1
        return AssistantSentence(
            conversation_id=self._conversation_id,
            id=ids.new(ids.SentenceId),
            previous_id=self.id,
            sequence=self._sentences,
            text=text,
            is_final=status is not None,
            status=status,
        )

    def _closing(self, status: AnswerStatus) -> list[Body]:
        # What the model had not ended when it was stopped was sent to nobody, so it is no part of the answer.
        rest = self._splitter.flush() if status == "completed" else []
        self._text += rest
        if self._streaming:
            *all_but_last, last = rest or [""]
            return [*(self._sentence(text) for text in all_but_last), self._sentence(last, status)]
        return [
            AssistantMessage(
                conversation_id=self._conversation_id,
                id=self.id,
                previous_id=self.question.message_id,
                content="".join(self._text),
                status=status,
            )
        ]

    async def _emit(self, *bodies: Body) -> None:
        first, *rest = bodies
        for body in bodies:
            if isinstance(body, AssistantSentence) and body.sequence == 1:
                # Its sound is made while it is stored.
                self._expect(body)
        await self._line.emit(Entry(first, self._first_token.meta()), *(Entry(body) for body in rest))
        for body in bodies:
            if isinstance(body, AssistantSentence):
                if body.sequence == 1 and self.question.asked_at is not None:
                    metrics.first_sentence.observe(time.monotonic() - self.question.asked_at)
                self._say_aloud(body)

    @property
    def text(self) -> str:
        """What was said so far."""
        return "".join(self._text)

    @property
    def used(self) -> str:
        """Notes on the tools that were used, for later prompts."""
        return self._rounds.notes
