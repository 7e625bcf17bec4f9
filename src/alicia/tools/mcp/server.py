"""An MCP server kept up: started, listed, watched, and started again with growing pauses when it dies."""

import asyncio
import hashlib
import random
import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import msgspec
import structlog

from alicia.errors import ErrorCode
from alicia.tools.definition import Caller, Definition, Run
from alicia.tools.mcp.config import ServerConfig
from alicia.tools.outcome import ToolOutcome, failed, succeeded

if TYPE_CHECKING:
    import mcp_types

    from alicia.tools.mcp.connection import Connection, Mode

log = structlog.stdlib.get_logger(__name__)

LONGEST_NAME = 64
"""What model servers accept as the name of a tool."""
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds: for a call, between two looks at the list, and before the server is started again.

    The pauses before a start double, unless the server was up for as long as `settled`.
    """

    call: float = 60.0
    look: float = 60.0
    first_pause: float = 0.5
    longest_pause: float = 60.0
    settled: float = 30.0


class McpServer:
    """One server. `serve` owns its connection and runs until cancelled; `tools` is what it had last.

    A server that is down keeps its tools, so that the prompt stays the same; calls then end in an error.
    """

    def __init__(self, config: ServerConfig, pace: Pace | None = None) -> None:
        self.name = config.name
        self.tools: tuple[Definition, ...] = ()
        self.listed = False
        """Whether the server has ever said which tools it has."""
        self.on_change: Callable[[], None] = _nothing
        self._config = config
        pace = pace or Pace()
        self._pace = pace if config.timeout is None else msgspec.structs.replace(pace, call=config.timeout)
        self.up = asyncio.Event()
        """Set while a call would reach the server."""
        self._connection: Connection | None = None
        self._wake = asyncio.Event()
        self._ended = False
        self._answered = False

    async def serve(self) -> None:
        """Keep the server up, whatever it does."""
        refused = brief = 0
        while True:
            # Some old servers end at a question that they do not know: every other attempt is the old way.
            mode: Mode = "legacy" if refused % 2 else "auto"
            self._answered = False
            began = time.monotonic()
            try:
                await self._session(mode)
                log.warning("MCP server ended", server=self.name)
            except Exception as error:
                log.warning("MCP server lost", server=self.name, error=_cause(error), was_up=self._answered)
            finally:
                self._connection = None
                self.up.clear()
            if (task := asyncio.current_task()) is not None and task.cancelling():
                # The SDK can end with an error of its own where it was cancelled.
                raise asyncio.CancelledError
            refused = 0 if self._answered else refused + 1
            # One that comes up only to die again is no better than one that does not come up.
            brief = 0 if self._answered and time.monotonic() - began >= self._pace.settled else brief + 1
            pause = min(self._pace.first_pause * 2 ** max(0, min(brief - 1, 20)), self._pace.longest_pause)
            await asyncio.sleep(pause * (0.75 + 0.5 * random.random()))  # noqa: S311

    async def _session(self, mode: "Mode") -> None:
        from alicia.tools.mcp.connection import connect

        self._ended = False
        self._wake.clear()
        async with connect(self._config, mode, on_change=self._wake.set, on_end=self._end) as connection:
            await self._list(connection)
            self._answered = True
            self._connection = connection
            self.up.set()
            log.info("MCP server up", server=self.name, tools=len(self.tools))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._listen, connection)
                while not self._ended:
                    await self._next_look()
                    if not self._ended:
                        await self._list(connection)
                tasks.cancel_scope.cancel()

    async def _next_look(self) -> None:
        # anyio's limit, not asyncio's: this runs between the SDK's own cancel scopes.
        with anyio.move_on_after(self._pace.look):
            await self._wake.wait()
        self._wake.clear()

    async def _listen(self, connection: "Connection") -> None:
        """When the server stops reporting, look at once whether it is still there."""
        try:
            await connection.listen()
        except Exception as error:
            log.info("MCP server reports no changes", server=self.name, error=_cause(error))
        self._wake.set()

    def _end(self) -> None:
        self._connection = None
        self.up.clear()
        self._ended = True
        self._wake.set()

    async def _list(self, connection: "Connection") -> None:
        tools = tuple(self._definition(tool) for tool in await connection.tools())
        before = [(tool.name, tool.description, tool.schema) for tool in self.tools]
        changed = before != [(tool.name, tool.description, tool.schema) for tool in tools]
        if changed or not self.listed:
            self.tools = tools
            self.listed = True
            self.on_change()

    def _definition(self, tool: "mcp_types.Tool") -> Definition:
        return Definition(
            name=_full_name(self.name, tool.name),
            description=tool.description or tool.title or "",
            schema=tool.input_schema,
            run=self._caller(tool.name),
            timeout=self._pace.call,
        )

    def _caller(self, tool: str) -> Run:
        async def run(_: Caller, arguments: dict[str, Any]) -> ToolOutcome:
            return await self._call(tool, arguments)

        return run

    async def _call(self, tool: str, arguments: dict[str, Any]) -> ToolOutcome:
        connection = self._connection
        if connection is None:
            return self._failed("is not running at the moment; it is being started again")
        from mcp import MCPError

        try:
            # The box has the same limit and gives up first, with the better message.
            result = await connection.call(tool, arguments, self._pace.call * 2)
        except MCPError as error:
            return self._refused(error.code, error.message)
        except RuntimeError as error:
            return self._failed(f"gave a result that cannot be used: {error}")
        return _outcome(result)

    def _refused(self, code: int, message: str) -> ToolOutcome:
        import mcp_types

        # Whether it is still there shows when its list is asked for.
        self._wake.set()
        if code == mcp_types.CONNECTION_CLOSED:
            return self._failed("stopped in the middle of the call")
        if code == mcp_types.INVALID_PARAMS:
            return failed(ErrorCode.INVALID_PARAMETERS, message)
        return self._failed(f"answered: {message}")

    def _failed(self, what: str) -> ToolOutcome:
        return failed(ErrorCode.TOOL_FAILED, f"The MCP server {self.name!r} {what}.")


def _outcome(result: "mcp_types.CallToolResult") -> ToolOutcome:
    blocks = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    if result.is_error:
        return failed(ErrorCode.TOOL_FAILED, "\n".join(texts) or "The tool failed without saying why.")
    if result.structured_content is not None:
        return succeeded(result.structured_content)
    return succeeded("\n".join(texts) if len(texts) == len(blocks) else {"content": blocks})


def _full_name(server: str, tool: str) -> str:
    """`server__tool` in characters and length that every model server takes; the same each time."""
    name = f"{_UNFIT.sub('_', server)}__{_UNFIT.sub('_', tool)}"
    if len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: LONGEST_NAME - 9]}_{digest}"


def _cause(error: BaseException) -> str:
    """What went wrong first, in words only where they quote neither addresses nor results."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:  # pyright: ignore[reportUnknownMemberType]
        error = error.exceptions[0]  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    name = type(error).__name__  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return f"{name}: {error}"[:300] if isinstance(error, OSError | httpx2.ConnectError) else name


def _nothing() -> None:
    """Nobody listens yet."""
