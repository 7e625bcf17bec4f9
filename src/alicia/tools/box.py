"""All the tools of a worker: which there are, which are switched on, and running one."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping, Sequence

import msgspec
import structlog
from jsonschema.protocols import Validator

from alicia.errors import ErrorCode
from alicia.llm.messages import Tool, ToolCall
from alicia.storage.pool import Pool
from alicia.tools.arguments import compile_schema, read_arguments
from alicia.tools.definition import Caller, Definition, Hint, ToolError
from alicia.tools.mcp.server import McpServer
from alicia.tools.outcome import ToolOutcome, failed
from alicia.tools.registry import CODE, Known, mcp_source, read_disabled, synchronise
from alicia.tools.results import plain
from alicia.tools.uses import timed_out

log = structlog.stdlib.get_logger(__name__)

REREAD = 2.0
"""Seconds until a tool that was switched on or off elsewhere is so here."""


class _Ready(msgspec.Struct, frozen=True):
    definition: Definition
    validator: Validator


class Toolbox:
    """The built-in tools, and those of the MCP servers as they come and go; shared by all conversations.

    Use `open` around its life. Without a pool nothing is written down and every tool is on.
    """

    def __init__(
        self, builtin: Sequence[Definition], servers: Sequence[McpServer] = (), pool: Pool | None = None
    ) -> None:
        self._builtin = tuple(builtin)
        self._servers = tuple(servers)
        self._pool = pool
        self._tools: dict[str, _Ready] = {}
        self._disabled: frozenset[str] = frozenset()
        self._offers: tuple[Tool, ...] = ()
        self._changed = asyncio.Event()

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncGenerator["Toolbox"]:
        """Register the tools and start the servers; nothing waits for a server that does not come up."""
        for server in self._servers:
            server.on_change = self._rebuild
        self._rebuild()
        if self._pool is not None:
            await self._try_to_synchronise(self._pool)
        tasks = [asyncio.create_task(server.serve()) for server in self._servers]
        if self._pool is not None:
            tasks.append(asyncio.create_task(self._keep(self._pool)))
        try:
            yield self
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def available(self, user_id: str) -> Sequence[Tool]:
        """What the model is told of, by name, so that the prompt stays the same."""
        return self._offers

    @property
    def hints(self) -> Mapping[str, Hint]:
        """What is known of tools beyond their description, for models that cannot call them by themselves."""
        return {
            name: ready.definition.hint
            for name, ready in self._tools.items()
            if ready.definition.hint is not None
        }

    def timeout(self, name: str) -> float | None:
        """How many seconds the tool has, None if there is no such tool."""
        ready = self._find(name)
        return ready.definition.timeout if isinstance(ready, _Ready) else None

    async def run(self, caller: Caller, call: ToolCall) -> ToolOutcome:
        """Run one call. What the model, the tool or its server does wrong is an outcome, never an exception.

        Cancelling the caller's task stops the tool, and is the only thing that gets out of here.
        """
        found = self._find(call.name)
        if isinstance(found, ToolOutcome):
            return found
        try:
            arguments = read_arguments(call.arguments, found.validator)
            return await _run(found.definition, caller, arguments)
        except ToolError as error:
            return failed(error.code, str(error))

    def _find(self, name: str) -> _Ready | ToolOutcome:
        """The tool of that name; a server's tool also goes by its own name if only one server has it."""
        full = name if name in self._tools else None
        if full is None:
            same = [known for known in self._tools if known.endswith(f"__{name}")]
            full = same[0] if len(same) == 1 else None
        if full is None:
            return failed(ErrorCode.UNKNOWN_TOOL, f"There is no tool {name[:80]!r}.")
        if full in self._disabled:
            return failed(ErrorCode.UNKNOWN_TOOL, f"The tool {full!r} is switched off.")
        return self._tools[full]

    def _rebuild(self) -> None:
        """Take up what the servers have now. A built-in tool's name is never given to another."""
        tools: dict[str, _Ready] = {}
        remote = [definition for server in self._servers for definition in server.tools]
        for definition in (*self._builtin, *remote):
            if definition.name in tools:
                continue
            known = self._tools.get(definition.name)
            if known is not None and known.definition.schema == definition.schema:
                tools[definition.name] = _Ready(definition, known.validator)
                continue
            try:
                tools[definition.name] = _Ready(definition, compile_schema(definition.schema))
            except ValueError as error:
                log.warning("tool left out", tool=definition.name, reason=str(error))
        self._tools = dict(sorted(tools.items()))
        self._offer()
        self._changed.set()

    def _offer(self) -> None:
        self._offers = tuple(
            ready.definition.offer() for name, ready in self._tools.items() if name not in self._disabled
        )

    def _known(self) -> Known:
        sources = {definition.name: CODE for definition in self._builtin}
        for server in self._servers:
            sources |= {definition.name: mcp_source(server.name) for definition in server.tools}
        return Known(
            tools=[
                (self._tools[name].definition, source)
                for name, source in sources.items()
                if name in self._tools
            ],
            listed={CODE, *(mcp_source(server.name) for server in self._servers if server.listed)},
            configured={CODE, *(mcp_source(server.name) for server in self._servers)},
        )

    async def _synchronise(self, pool: Pool) -> None:
        self._changed.clear()
        async with pool.connection() as conn:
            await synchronise(conn, self._known())
            disabled = await read_disabled(conn)
        if disabled != self._disabled:
            self._disabled = disabled
            self._offer()

    async def _keep(self, pool: Pool) -> None:
        """Write down what changes here, and read what is switched on and off elsewhere."""
        while True:
            changed = False
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(REREAD):
                    changed = await self._changed.wait()
            if not await self._try_to_synchronise(pool, changed=changed):
                await asyncio.sleep(REREAD)

    async def _try_to_synchronise(self, pool: Pool, *, changed: bool = True) -> bool:
        """Without a database the tools are there all the same; it is tried again."""
        try:
            await (self._synchronise(pool) if changed else self.refresh())
        except Exception as error:
            log.warning("tools not synchronised", error=type(error).__name__)
            self._changed.set()
            return False
        return True

    async def refresh(self) -> None:
        """Read again which tools are switched off."""
        if self._pool is None:
            return
        async with self._pool.connection() as conn:
            disabled = await read_disabled(conn)
        if disabled != self._disabled:
            self._disabled = disabled
            self._offer()


async def _run(tool: Definition, caller: Caller, arguments: dict[str, object]) -> ToolOutcome:
    limit = asyncio.timeout(tool.timeout)
    try:
        async with limit:
            outcome = await tool.run(caller, arguments)
        if outcome.result is None:
            return outcome
        return msgspec.structs.replace(outcome, result=plain(outcome.result))
    except ToolError:
        raise
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        # Not ours: the tool waited for something that somebody else cancelled.
        return failed(ErrorCode.TOOL_FAILED, f"The tool {tool.name!r} broke off.")
    except Exception as error:
        if limit.expired():
            return timed_out(tool.timeout)
        log.warning("tool failed", tool=tool.name, error=type(error).__name__, exc_info=True)
        return failed(ErrorCode.TOOL_FAILED, f"The tool {tool.name!r} failed: {type(error).__name__}.")
