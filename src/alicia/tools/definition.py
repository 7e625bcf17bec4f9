"""What a tool is: a name, a schema, and a function that gets valid arguments."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import msgspec

from alicia.errors import AliciaError, ErrorCode
from alicia.ids import ConversationId, MessageId
from alicia.llm.messages import Tool
from alicia.tools.outcome import ToolOutcome


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """For whom a tool runs, and where."""

    user_id: str
    conversation_id: ConversationId | None = None
    message_id: MessageId | None = None
    """The user's message that is being answered."""
    time_zone: str | None = None
    """The user's IANA time zone, as far as a device has told."""


class ToolError(AliciaError):
    """A tool says what went wrong, in a sentence that helps the model to do better."""

    def __init__(self, message: str, code: ErrorCode = ErrorCode.TOOL_FAILED) -> None:
        super().__init__(message)
        self.code = code


Run: TypeAlias = Callable[[Caller, dict[str, Any]], Awaitable[ToolOutcome]]
"""Runs a tool with arguments that fit its schema; may raise anything, and may be cancelled at any await."""

Applies: TypeAlias = Callable[[str], bool]
"""Whether a tool could help with a message, told without a model; a wrong yes only costs time."""


class Hint(msgspec.Struct, frozen=True, kw_only=True):
    """What helps a model that cannot call tools by itself to choose this one when it should."""

    applies: Applies
    examples: tuple[tuple[str, dict[str, Any]], ...] = ()
    """Messages, and the arguments that fit them."""


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that can be run here. `hint` is None for tools that are known by their description only."""

    name: str
    description: str
    schema: dict[str, Any]
    run: Run
    hint: Hint | None = None
    timeout: float = 30.0

    def offer(self) -> Tool:
        """What the model is told."""
        return Tool(self.name, self.description, self.schema)
