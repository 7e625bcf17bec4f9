"""What the engine asks of the outside: a model, memories and tools, each as small as it can be."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Protocol

from alicia.ids import ConversationId
from alicia.llm.messages import Delta, Message, Tool, ToolCall
from alicia.memory.learning import Lesson, Store, Turn
from alicia.memory.memory import Recalled
from alicia.tools.definition import Caller, Hint
from alicia.tools.outcome import ToolOutcome


class ChatModel(Protocol):
    """A language model; `alicia.llm.chat.ChatModel` is one."""

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int | None = None,
        tools: Sequence[Tool] = (),
        schema: dict[str, Any] | None = None,
    ) -> AsyncGenerator[Delta, None]:
        """Answer a prompt piece by piece, a `Finish` last; ModelUnavailable says why not, or no more.

        Closing the generator makes the model stop at once.
        """
        ...

    async def complete(
        self, messages: Sequence[Message], *, schema: dict[str, Any], max_tokens: int | None = None
    ) -> Any:
        """Answer in JSON that fits the schema, or ModelUnavailable; cancelling it stops the model."""
        ...


class Lessons(Protocol):
    """Learns from what users say; `alicia.memory.memory.Memory` does."""

    async def learn(self, turn: Turn, store: Store) -> Lesson:
        """Keep what is worth keeping of a turn; `store` appends the entries, once at most."""
        ...


class Recall(Protocol):
    """Memories of one user."""

    async def recall(
        self,
        user_id: str,
        conversation: Sequence[Message],
        message: str,
        *,
        conversation_id: ConversationId | None = None,
    ) -> list[Recalled]:
        """The memories that may help to answer `message`, best first; `conversation` came before it."""
        ...


class ToolBox(Protocol):
    """The tools that an answer may use; `alicia.tools.box.Toolbox` is one."""

    def available(self, user_id: str) -> Sequence[Tool]:
        """What the model is told of; always in the same order, so that the prompt stays the same."""
        ...

    @property
    def hints(self) -> Mapping[str, Hint]:
        """What helps a model that cannot call tools by itself to choose among them."""
        ...

    def timeout(self, name: str) -> float | None:
        """How many seconds the tool has, None if there is no such tool."""
        ...

    async def run(self, caller: Caller, call: ToolCall) -> ToolOutcome:
        """Run one call. Never raises for what the tool or the model did wrong: that is an outcome too."""
        ...
