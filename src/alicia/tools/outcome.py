"""How a tool use ended: exactly one of success, error, cancelled."""

from typing import Any, Literal

import msgspec

from alicia.ledger.entries import Entry

Ending = Literal["success", "error", "cancelled"]


class ToolOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a tool use. `result` is whole; what is sent to devices may be cut.

    A cancelled use has a message but no code: nobody did anything wrong. `effects` is what is to be
    appended together with the result, such as a new memory.
    """

    status: Ending
    result: Any = None
    error_code: int | None = None
    error_message: str | None = None
    effects: tuple[Entry, ...] = ()

    @property
    def success(self) -> bool:
        """Whether there is a result."""
        return self.status == "success"


def succeeded(result: Any, effects: tuple[Entry, ...] = ()) -> ToolOutcome:
    """The tool did what it was asked."""
    return ToolOutcome(status="success", result=result, effects=effects)


def failed(code: int, message: str) -> ToolOutcome:
    """The call, the tool or its server was at fault; the message is for the model and for the user."""
    return ToolOutcome(status="error", error_code=int(code), error_message=message)


def cancelled(message: str = "The tool was stopped before it was done.") -> ToolOutcome:
    """Nobody waits for the result any more."""
    return ToolOutcome(status="cancelled", error_message=message)
