"""Tools of the program's own: announced to the agent, run here when a request names this device."""

import asyncio
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, get_type_hints

import msgspec
import structlog

from alicia.client.events import Event, Hub, LogRestarted
from alicia.errors import AliciaError, ErrorCode
from alicia.ids import ToolUseId
from alicia.protocol.messages import Erasure, Map, ToolUseRequest, ToolUseResult

log = structlog.get_logger(__name__)

LONGEST_COMPLAINT: Final = 2_000


class ClientTool(msgspec.Struct, frozen=True, kw_only=True):
    """A function that the agent may have called here; `schema` is the JSON schema of its arguments.

    The function may be async. It gets its arguments by name, and what it returns must be JSON; what it raises
    is told to the model.
    """

    name: str
    description: str
    schema: dict[str, Any]
    function: Callable[..., Any]
    timeout: float | None = None
    """Seconds after which the agent goes on without it."""

    @classmethod
    def of(cls, function: Callable[..., Any], *, timeout: float | None = None) -> "ClientTool":
        """A tool by its function's name, docstring and annotations."""
        return cls(
            name=function.__name__,
            description=inspect.getdoc(function) or "",
            schema=_schema(function),
            function=function,
            timeout=timeout,
        )

    def announcement(self) -> Map:
        """What the Configuration says of it."""
        told: Map = {"name": self.name, "description": self.description, "schema": self.schema}
        return told if self.timeout is None else {**told, "timeoutMs": round(self.timeout * 1000)}


Tools: TypeAlias = Sequence["Callable[..., Any] | ClientTool | Map"]
"""Functions, tools, or mere announcements of tools whose requests the program answers by itself."""


class ToolRunner:
    """Runs each request for this device once, and only if its result is not known after the replay."""

    def __init__(
        self,
        tools: Tools,
        hub: Hub,
        *,
        device: str,
        caught_up: asyncio.Event,
        send: Callable[[ToolUseResult], None],
    ) -> None:
        self._tools: dict[str, ClientTool] = {}
        self._foreign: list[Map] = []
        for tool in tools:
            self._add(tool)
        self._device = device
        self._caught_up = caught_up
        self._send = send
        self._running: dict[ToolUseId, asyncio.Task[None]] = {}
        self._begun: set[ToolUseId] = set()
        if tools:
            hub.subscribe(self._notice)

    def _add(self, tool: "Callable[..., Any] | ClientTool | Map") -> None:
        if callable(tool):
            tool = ClientTool.of(tool)
        if isinstance(tool, ClientTool):
            self._tools[tool.name] = tool
        else:
            self._foreign.append(tool)

    @property
    def announced(self) -> list[Map]:
        """What the Configuration says of the tools."""
        return [*(tool.announcement() for tool in self._tools.values()), *self._foreign]

    async def aclose(self) -> None:
        """Give up what runs: the agent notices that this device has left."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _notice(self, event: Event) -> bool:
        """Never wants an event, only looks at it."""
        match event:
            case ToolUseRequest(execution="client") if event.device == self._device:
                self._hear(event)
            case ToolUseResult():
                self._drop(event.request_id)
            case Erasure():
                for use_id in self._running.keys() & set(event.ids):
                    self._drop(use_id)
            case LogRestarted():
                for use_id in self._running.keys() - self._begun:
                    self._drop(use_id)
            case _:
                pass
        return False

    def _hear(self, request: ToolUseRequest) -> None:
        if any(tool.get("name") == request.tool_name for tool in self._foreign):
            return
        if request.id not in self._begun and request.id not in self._running:
            self._running[request.id] = asyncio.create_task(self._run(request))

    def _drop(self, use_id: ToolUseId) -> None:
        """It has ended, here or elsewhere."""
        if task := self._running.pop(use_id, None):
            task.cancel()

    async def _run(self, request: ToolUseRequest) -> None:
        # What is replayed may be followed by its result.
        await self._caught_up.wait()
        self._begun.add(request.id)
        result = await self._result(request)
        self._running.pop(request.id, None)
        try:
            self._send(result)
        except AliciaError as error:
            self._send(_failure(request, f"The result can't be sent: {error}"))

    async def _result(self, request: ToolUseRequest) -> ToolUseResult:
        tool = self._tools.get(request.tool_name)
        if tool is None:
            return _failure(request, "This device has no such tool.", ErrorCode.UNKNOWN_TOOL)
        try:
            if inspect.iscoroutinefunction(tool.function):
                value = await tool.function(**request.parameters)
            else:
                value = await asyncio.to_thread(tool.function, **request.parameters)
            plain = msgspec.json.decode(msgspec.json.encode(value))
        except Exception as error:
            log.warning("tool failed", tool=tool.name, error=type(error).__name__, exc_info=True)
            return _failure(request, f"{type(error).__name__}: {error}")
        return ToolUseResult(
            conversation_id=request.conversation_id, request_id=request.id, success=True, result=plain
        )


def _failure(request: ToolUseRequest, message: str, code: ErrorCode = ErrorCode.TOOL_FAILED) -> ToolUseResult:
    return ToolUseResult(
        conversation_id=request.conversation_id,
        request_id=request.id,
        success=False,
        error_code=code,
        error_message=message.replace("\0", "")[:LONGEST_COMPLAINT],
    )


def _schema(function: Callable[..., Any]) -> dict[str, Any]:
    """The JSON schema of a function's arguments."""
    hints = get_type_hints(function, include_extras=True)
    fields: list[Any] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise AliciaError(f"{function.__name__} can't be a tool: {name!r} can't be given by name.")
        kind = hints.get(name, Any)
        required = parameter.default is inspect.Parameter.empty
        fields.append((name, kind) if required else (name, kind, parameter.default))
    try:
        made = msgspec.defstruct("Arguments", fields, kw_only=True, forbid_unknown_fields=True)
        whole = msgspec.json.schema(made)
    except TypeError as error:
        raise AliciaError(f"{function.__name__} can't be a tool: {error}") from error
    others: dict[str, Any] = whole["$defs"]
    # Model servers want an object at the top, not a reference to one.
    schema: dict[str, Any] = others.pop("Arguments")
    schema.pop("title", None)
    return {**schema, "$defs": others} if others else schema
