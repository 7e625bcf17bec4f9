"""The tools of the devices in a conversation: announced by a device, run by it, and gone with it."""

import asyncio
import re
from collections.abc import Container, Mapping, Sequence
from typing import Any, Final, cast

import msgspec
import structlog
from jsonschema.protocols import Validator

from alicia.errors import ErrorCode
from alicia.ids import ToolUseId
from alicia.llm.messages import Tool, ToolCall
from alicia.tools.arguments import compile_schema, read_arguments
from alicia.tools.definition import ToolError
from alicia.tools.outcome import ToolOutcome, cancelled, failed
from alicia.tools.results import plain
from alicia.tools.uses import ToolUse

log = structlog.stdlib.get_logger(__name__)

MOST_TOOLS: Final = 64
"""Of one device; more are ignored."""
LONGEST_DESCRIPTION: Final = 2_000
TIMEOUT: Final = 60.0
LONGEST_TIMEOUT: Final = 600.0
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


class _Announced(msgspec.Struct, frozen=True):
    tool: Tool
    validator: Validator
    seconds: float


class ClientRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What goes to one device: valid arguments, and the seconds that it has."""

    device: str
    arguments: dict[str, Any]
    seconds: float


class ClientEnding(msgspec.Struct, frozen=True):
    """How a device's use of a tool ended, and whether the device itself said so: then that is stored."""

    outcome: ToolOutcome
    told: bool


class _Waiting(msgspec.Struct):
    device: str
    use: ToolUse
    ended: asyncio.Event
    told: bool = False


class ClientTools:
    """The devices' tools in one conversation, and the uses that wait for an answer of theirs."""

    def __init__(self) -> None:
        self._devices: dict[str, dict[str, _Announced]] = {}
        self._waiting: dict[ToolUseId, _Waiting] = {}

    def announce(self, device: str, tools: Sequence[Mapping[str, Any]]) -> None:
        """Take what a device says it can do, instead of what it said before; what cannot be used is ignored.

        A tool has a `name`, a `description`, a JSON `schema` (or `parameters`, or `inputSchema`) and, if it
        needs another time than usual, `timeoutMs`.
        """
        read = (_read(device, tool) for tool in tools[:MOST_TOOLS])
        self._devices[device] = {one.tool.name: one for one in read if one is not None}

    def leave(self, device: str) -> None:
        """The device is gone: its tools are, and what waits for it has failed."""
        self._devices.pop(device, None)
        for waiting in self._waiting.values():
            if waiting.device == device:
                _end(waiting, failed(ErrorCode.TOOL_FAILED, "The device left before it answered."))

    def available(self, taken: Container[str] = ()) -> list[Tool]:
        """What the model is told of, by name; not those whose name is `taken` by the server's own tools."""
        tools = {name: one.tool for known in self._devices.values() for name, one in known.items()}
        return [tool for name, tool in sorted(tools.items()) if name not in taken]

    def request(self, call: ToolCall, *, prefer: str | None = None) -> ClientRequest | ToolOutcome:
        """Which device is to run the call, the preferred one if it can; or why none can."""
        able = [device for device, known in self._devices.items() if call.name in known]
        if not able:
            return failed(ErrorCode.UNKNOWN_TOOL, f"No device here has a tool {call.name[:80]!r}.")
        device = prefer if prefer in able else able[0]
        announced = self._devices[device][call.name]
        try:
            arguments = read_arguments(call.arguments, announced.validator)
        except ToolError as error:
            return failed(error.code, str(error))
        return ClientRequest(device=device, arguments=arguments, seconds=announced.seconds)

    def expect(self, use_id: ToolUseId, device: str) -> None:
        """From now on an answer of this device is taken; call it before the request is sent."""
        self._waiting[use_id] = _Waiting(device, ToolUse("running"), asyncio.Event())

    def stop(self, use_id: ToolUseId) -> None:
        """Nobody wants the answer any more; one that was taken already counts."""
        if waiting := self._waiting.get(use_id):
            waiting.use.stop()
            waiting.ended.set()

    async def ending(self, use_id: ToolUseId, seconds: float) -> ClientEnding:
        """Wait for the end of an expected use; it is forgotten then, and later answers are refused."""
        waiting = self._waiting[use_id]
        try:
            async with asyncio.timeout(seconds):
                await waiting.ended.wait()
        except TimeoutError:
            waiting.use.time_out(seconds)
        finally:
            self._waiting.pop(use_id, None)
        return ClientEnding(waiting.use.outcome or cancelled(), waiting.told)

    def answer(self, device: str, use_id: ToolUseId, outcome: ToolOutcome) -> bool:
        """Take a device's result, which the caller must store then.

        False: it is late, a second one, or not of the device that was asked.
        """
        waiting = self._waiting.get(use_id)
        if waiting is None or waiting.device != device:
            return False
        try:
            outcome = msgspec.structs.replace(outcome, result=plain(outcome.result))
        except ToolError as error:
            outcome = failed(error.code, str(error))
        if not _end(waiting, outcome):
            return False
        waiting.told = True
        return True


def _end(waiting: _Waiting, outcome: ToolOutcome) -> bool:
    taken = waiting.use.end(outcome)
    waiting.ended.set()
    return taken


def _read(device: str, tool: Mapping[str, Any]) -> _Announced | None:
    name, description = tool.get("name"), tool.get("description") or ""
    schema = next(
        (tool[key] for key in ("schema", "parameters", "inputSchema") if key in tool), {"type": "object"}
    )
    limit = tool.get("timeoutMs")
    seconds = limit / 1000 if isinstance(limit, int | float) and limit > 0 else TIMEOUT
    try:
        if not isinstance(name, str) or not _NAME.match(name):
            raise ValueError("its name is not one to 64 of A-Z a-z 0-9 _ -")
        if not isinstance(schema, dict):
            raise ValueError("its schema is no object")
        checked = cast("dict[str, Any]", plain(schema))
        validator = compile_schema(checked)
    except (ValueError, ToolError) as error:
        log.warning("client tool ignored", device=device, reason=str(error))
        return None
    told = Tool(name, str(description)[:LONGEST_DESCRIPTION], checked)
    return _Announced(told, validator, min(seconds, LONGEST_TIMEOUT))
