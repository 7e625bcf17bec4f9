"""One connection to an MCP server, over the official SDK.

Importing this takes a second, so only a server that is started does.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncGenerator, Callable
from types import TracebackType
from typing import Any, Literal, Self, cast
from urllib.parse import urlsplit

import httpx2
import mcp_types
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client import Transport
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from alicia.tools.mcp.addresses import PublicTransport
from alicia.tools.mcp.config import HttpServer, ServerConfig, StdioServer

REQUEST_TIMEOUT = 10.0
"""Seconds for a handshake or a list; calls have a limit of their own."""
LARGEST_EVENT = 64 << 20
MOST_PAGES = 100
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

Mode = Literal["auto", "legacy"]
"""`auto` asks what the server speaks; `legacy` is for old servers that do not survive the question."""


class Connection:
    """An open session. It may be used by any task, but only the task that opened it may close it."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def tools(self) -> list[mcp_types.Tool]:
        """What the server has now, all pages of it."""
        found: list[mcp_types.Tool] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await self._client.list_tools(cursor=cursor, cache_mode="refresh")
            found += page.tools
            cursor = page.next_cursor
            if not cursor:
                break
        return found

    async def call(self, name: str, arguments: dict[str, Any], seconds: float) -> mcp_types.CallToolResult:
        """Call a tool; when the task is cancelled the server is told."""
        return await self._client.call_tool(name, arguments, read_timeout_seconds=seconds)

    async def listen(self) -> None:
        """Keep the server reporting changes of its list until it stops; older servers do so unasked."""
        tools = self._client.server_capabilities.tools
        if self._client.session.discover_result is None or tools is None or not tools.list_changed:
            await asyncio.get_running_loop().create_future()
        async with self._client.listen(tools_list_changed=True) as events:
            async for _ in events:
                pass


@contextlib.asynccontextmanager
async def connect(
    config: ServerConfig, mode: Mode, *, on_change: Callable[[], None], on_end: Callable[[], None]
) -> AsyncGenerator[Connection]:
    """Open a session; enter and leave in one task.

    `on_change` says that the list of tools is another, `on_end` that the server is gone. Whatever breaks
    the connection may also come out of here as an exception, or as a group of them.
    """

    async def handle(message: object) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            on_change()

    async with contextlib.AsyncExitStack() as stack:
        transport = await _transport(config, stack)
        client = Client(
            cast("Transport", _watched(transport, on_end)),
            mode=mode,
            read_timeout_seconds=REQUEST_TIMEOUT,
            message_handler=handle,
            client_info=mcp_types.Implementation(name="alicia", version="1"),
            cache=None,
        )
        yield Connection(await stack.enter_async_context(client))


async def _transport(config: ServerConfig, stack: contextlib.AsyncExitStack) -> Transport:
    match config:
        case StdioServer():
            # What servers complain of belongs to our own log, wherever that goes.
            errors = sys.__stderr__ or stack.enter_context(open(os.devnull, "w"))  # noqa: ASYNC230, PTH123, SIM115
            parameters = StdioServerParameters(
                command=config.command, args=list(config.args), env=config.env, cwd=config.cwd
            )
            return cast("Transport", stdio_client(parameters, errlog=errors))
        case HttpServer():
            http = await stack.enter_async_context(
                httpx2.AsyncClient(
                    headers=config.headers,
                    timeout=httpx2.Timeout(30.0, read=300.0),
                    # A proxy for the world outside cannot reach this machine's own server.
                    trust_env=urlsplit(config.url).hostname not in _LOOPBACK,
                    transport=None if config.allow_private else PublicTransport(),
                )
            )
            client = streamable_http_client(config.url, http_client=http, max_sse_event_size=LARGEST_EVENT)
            return cast("Transport", client)


@contextlib.asynccontextmanager
async def _watched(transport: Transport, on_end: Callable[[], None]) -> AsyncGenerator[tuple[Any, Any]]:
    """The same transport; the SDK itself tells nobody when a server goes away between two calls."""
    async with transport as (reading, writing):
        yield _Watched(reading, on_end), writing


class _Watched:
    """A stream of messages from the server that says when it ends."""

    def __init__(self, stream: Any, on_end: Callable[[], None]) -> None:
        self._stream = stream
        self._on_end = on_end

    @property
    def last_context(self) -> Any:
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        try:
            return await self._stream.receive()
        except BaseException:
            self._on_end()
            raise

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await anext(self._stream)
        except BaseException:
            self._on_end()
            raise

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, trace)
