"""The life of a tool use, without I/O: pending, running, then exactly one of success, error, cancelled."""

from typing import Literal

from alicia.errors import ErrorCode
from alicia.tools.outcome import ToolOutcome, cancelled, failed

Status = Literal["pending", "running", "success", "error", "cancelled"]


class ToolUse:
    """One use of a tool. The first ending stays; everything after it is ignored and says so with False.

    A use that is read back after its worker died starts where its row says: pending, running, or ended.
    """

    def __init__(self, status: Status = "pending", outcome: ToolOutcome | None = None) -> None:
        self._status: Status = status
        self._outcome = outcome

    @property
    def status(self) -> Status:
        """The row's word for it."""
        return self._status

    @property
    def outcome(self) -> ToolOutcome | None:
        """How it ended, once it has."""
        return self._outcome

    @property
    def ended(self) -> bool:
        """Whether anything may still happen to it."""
        return self._status not in ("pending", "running")

    def begin(self) -> bool:
        """The tool starts to run. False: it runs or has ended already, so do not run it."""
        if self._status != "pending":
            return False
        self._status = "running"
        return True

    def end(self, outcome: ToolOutcome) -> bool:
        """A result arrived, from the tool or from a device. False: too late, drop it."""
        if self.ended:
            return False
        self._status = outcome.status
        self._outcome = outcome
        return True

    def time_out(self, seconds: float) -> bool:
        """The tool took too long. False: it had ended in time."""
        return self.end(timed_out(seconds))

    def stop(self) -> bool:
        """Nobody wants the result any more. False: it is there already."""
        return self.end(cancelled())

    def abandon(self) -> bool:
        """Its worker died: what the tool did is unknown, and it is not run twice. False: it had ended."""
        return self.end(
            cancelled("The tool was interrupted when its worker stopped; it may have done its work.")
        )


def timed_out(seconds: float) -> ToolOutcome:
    """The outcome of a tool that did not answer in time."""
    return failed(ErrorCode.TOOL_TIMEOUT, f"The tool did not answer within {seconds:g} seconds.")
