"""Following one answer from its question to its closing stanza, through queues, losses and restarts."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator

from alicia.client.errors import AnswerFailed, Erased, Refused, Superseded
from alicia.client.events import Event, Hub, Subscription
from alicia.errors import ErrorCode
from alicia.ids import MessageId
from alicia.protocol.messages import (
    AnswerStatus,
    AssistantMessage,
    AssistantSentence,
    AudioChunk,
    ControlStop,
    ControlVariation,
    Erasure,
    ErrorMessage,
    MemoryTrace,
    ReasoningStep,
    StartAnswer,
    ToolUseRequest,
    ToolUseResult,
    UserMessage,
)


class _Thread:
    """Knows which events belong to one answer."""

    def __init__(self, sent: UserMessage | ControlVariation) -> None:
        self.sent_id = sent.id
        regenerated = isinstance(sent, ControlVariation) and sent.mode == "regenerate"
        self.question_id: MessageId | None = None if regenerated else sent.id
        self.answer_id: MessageId | None = sent.id if regenerated else None
        self.started = False
        self.over = False
        self._later: set[str] | None = None
        """The messages that were heard after the question; None before it was heard itself."""
        self._parts: set[str] = set()

    def wants(self, event: Event) -> bool:
        if self.over:
            return False
        if isinstance(event, ErrorMessage):
            wanted = event.originating_id in (self.sent_id, self.question_id, self.answer_id, *self._parts)
            self.over = wanted and self.is_refusal(event)
            return wanted
        if isinstance(event, Erasure):
            self.over = not {self.sent_id, self.question_id, self.answer_id}.isdisjoint(event.ids)
            return self.over
        return self._is_part(event)

    def is_refusal(self, error: ErrorMessage) -> bool:
        """Whether nothing more can come: the agent took nothing, and it will not be sent again."""
        return error.originating_id == self.sent_id and not self.started and error.code < ErrorCode.TOO_MANY

    def _is_part(self, event: Event) -> bool:
        match event:
            case UserMessage():
                if event.local_id == self.question_id is not None:
                    # The id was taken by another message, so the agent gave it a new one.
                    self.question_id = event.id
                return self._is_left(event.id, event.supersedes)
            case ControlVariation():
                return self._is_left(event.id, event.target_id)
            case StartAnswer():
                wanted = event.id == self.answer_id or (
                    self.answer_id is None and event.previous_id == self.question_id
                )
                if wanted:
                    self.started = True
                    self.answer_id, self.question_id = event.id, event.previous_id
                return wanted
            case MemoryTrace():
                of = (event.metadata or {}).get("answerId", self.answer_id)
                return self.started and event.previous_id == self.question_id and of == self.answer_id
            case ReasoningStep():
                return event.message_id == self.answer_id
            case ToolUseRequest():
                return event.message_id == self.answer_id and self._remember(event.id)
            case ToolUseResult():
                return event.request_id in self._parts
            case ControlStop():
                return event.target_id == self.answer_id
            case AudioChunk():
                return event.message_id == self.answer_id is not None or event.id in self._parts
            case AssistantSentence():
                wanted = event.previous_id == self.answer_id and self._remember(event.id)
                self.over = wanted and event.is_final
                return wanted
            case AssistantMessage():
                self.over = event.id == self.answer_id
                return self.over
            case _:
                return False

    def _is_left(self, message_id: str, target: str | None) -> bool:
        """Whether a message begins another branch before the question's turn has come."""
        if message_id in (self.question_id, self.sent_id):
            self._later = set()
            return False
        if self._later is None or self.started:
            return False
        self._later.add(message_id)
        # A later message may be replaced without harm; whatever is no later one stood before the question.
        self.over = target is not None and target not in self._later
        return self.over

    def _remember(self, part: str) -> bool:
        self._parts.add(part)
        return True


class Answer:
    """The answer to one message: iterate over its events, or await its whole text.

    The iteration ends with the closing stanza, an AssistantSentence with `is_final` or an AssistantMessage,
    whatever its status; it lasts as long as it takes, also through losses of the connection. Refused is
    raised when the agent did not take the message, Erased when it is gone, and Superseded when another
    branch was begun before its turn came.
    """

    def __init__(
        self,
        hub: Hub,
        sent: UserMessage | ControlVariation,
        stop: Callable[[MessageId], Awaitable[None]],
    ) -> None:
        self.status: AnswerStatus | None = None
        """How it ended; None until then."""
        self._thread = _Thread(sent)
        self._stop = stop
        self._subscription: Subscription = hub.subscribe(self._thread.wants)

    @property
    def id(self) -> MessageId | None:
        """The answer's id, once it has begun."""
        return self._thread.answer_id

    @property
    def question_id(self) -> MessageId | None:
        """The id of the message that it answers."""
        return self._thread.question_id

    async def stop(self) -> None:
        """End it now; what was said stays. Iterate on to get the closing stanza."""
        await self._stop(self._thread.answer_id or self._thread.sent_id)

    def close(self) -> None:
        """Follow it no further; it goes on all the same."""
        self._subscription.close()

    def __aiter__(self) -> AsyncGenerator[Event, None]:
        return self._events()

    async def _events(self) -> AsyncGenerator[Event, None]:
        try:
            async for event in self._subscription:
                match event:
                    case ErrorMessage() if self._thread.is_refusal(event):
                        raise Refused(event)
                    case Erasure():
                        raise Erased("This message was erased.")
                    case UserMessage() | ControlVariation():
                        raise Superseded("This message was replaced before it was answered.")
                    case AssistantSentence(is_final=True) | AssistantMessage():
                        self.status = event.status or "completed"
                        yield event
                        return
                    case _:
                        yield event
        finally:
            self.close()

    def __await__(self) -> Generator[None, None, str]:
        return self.text().__await__()

    async def text(self) -> str:
        """The whole text once it is complete or stopped; AnswerFailed if it broke off."""
        sentences: list[str] = []
        reason = "The answer broke off."
        async for event in self:
            match event:
                case ErrorMessage():
                    reason = event.message
                case AssistantSentence():
                    sentences.append(event.text)
                case AssistantMessage():
                    sentences = [event.content]
                case _:
                    continue
            if self.status == "failed" and isinstance(event, AssistantSentence | AssistantMessage):
                raise AnswerFailed(reason, "".join(sentences), event)
        return "".join(sentences)
