"""One answer: remember, start, think, say, close."""

from datetime import UTC, datetime

import msgspec
import structlog

from alicia import ids
from alicia.engine.broadcast import Broadcast
from alicia.engine.history import History
from alicia.engine.ports import ChatModel, Recall
from alicia.engine.pump import Pump
from alicia.engine.sentences import Splitter
from alicia.errors import ModelUnavailable
from alicia.ledger.entries import Entry
from alicia.ledger.entries import Recalled as Found
from alicia.llm.messages import Delta, ReasoningDelta, TextDelta
from alicia.memory.memory import Recalled
from alicia.protocol.messages import (
    AnswerStatus,
    AssistantMessage,
    AssistantSentence,
    Body,
    MemoryTrace,
    ReasoningStep,
    StartAnswer,
)

log = structlog.get_logger(__name__)


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A user's message that wants an answer, and what is known of that answer."""

    message_id: ids.MessageId
    answer_id: ids.MessageId
    supersedes: ids.MessageId | None = None
    begun: bool = False
    """StartAnswer is stored already: an agent died in mid-answer, and this one goes on."""
    said: tuple[str, ...] = ()
    steps: int = 0


class Answer:
    """An answer on its way. `stop` ends it at once; what was sent stays."""

    def __init__(
        self,
        question: Question,
        *,
        user_id: str,
        line: Broadcast,
        history: History,
        model: ChatModel,
        recall: Recall,
        max_tokens: int,
        streaming: bool,
    ) -> None:
        self.question = question
        self.id = question.answer_id
        self.status: AnswerStatus = "completed"
        self.failure: Exception | None = None
        self.superseded = False
        self._user_id = user_id
        self._line = line
        self._history = history
        self._model = model
        self._recall = recall
        self._max_tokens = max_tokens
        self._streaming = streaming
        self._conversation_id = line.session.conversation_id
        self._pump: Pump[Delta] = Pump()
        self._splitter = Splitter()
        self._text = list(question.said)
        self._speaking = False
        self._sentences = len(question.said)
        self._steps = question.steps

    def stop(self) -> None:
        self._pump.stop()

    async def run(self) -> None:
        try:
            memories = await self._remember()
            now = datetime.now(UTC)
            prompt = self._history.prompt(self.question.message_id, memories, now, self.question.said)
            # The model reads its prompt while the opening is being stored.
            self._pump.start(self._model.stream(prompt, max_tokens=self._max_tokens))
            if not self.question.begun:
                await self._start(memories)
            await self._say()
        finally:
            await self._pump.aclose()

    async def _remember(self) -> list[Recalled]:
        if self.question.begun:
            return []
        earlier, text = self._history.before(self.question.message_id)
        try:
            return await self._recall.recall(
                self._user_id, earlier, text, conversation_id=self._conversation_id
            )
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

    async def _say(self) -> None:
        try:
            async for deltas in self._pump:
                bodies = [body for delta in deltas for body in self._bodies(delta)]
                if bodies:
                    await self._emit(*bodies)
        except ModelUnavailable as error:
            log.warning("model failed", message_id=self.id, reason=str(error))
            self.failure, self.status = error, "failed"
        if self._pump.stopped:
            self.failure, self.status = None, "stopped"
        await self._emit(*self._closing(self.status))

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

    def _reasoning(self, text: str) -> ReasoningStep:
        self._steps += 1
        return ReasoningStep(
            conversation_id=self._conversation_id,
            id=ids.new(ids.ReasoningStepId),
            message_id=self.id,
            sequence=self._steps,
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
        await self._line.emit(*(Entry(body) for body in bodies))

    @property
    def text(self) -> str:
        """What was said so far."""
        return "".join(self._text)
