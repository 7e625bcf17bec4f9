"""The tools that both MCP servers of the tests have: good ones, bad ones, slow ones, deadly ones."""

import asyncio
import os

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError


def make_server(name: str) -> MCPServer:
    server = MCPServer(name)
    begun: list[str] = []
    stopped: list[str] = []
    waiting: list[asyncio.Event] = []

    @server.tool()
    def add(a: int, b: int) -> int:
        """Add two whole numbers."""
        return a + b

    @server.tool()
    def say(text: str) -> str:
        """Say a text back."""
        return text

    @server.tool()
    def fail() -> str:
        """Fail."""
        raise ToolError("the tool says no")

    @server.tool()
    def large(size: int) -> str:
        """Give a text of this size."""
        return "x" * size

    @server.tool()
    def die() -> str:
        """End the server in mid-call."""
        os._exit(3)

    @server.tool()
    async def hang(token: str) -> str:
        """Wait until the call is cancelled."""
        begun.append(token)
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(token)
        return token

    @server.tool()
    async def begun_tokens() -> list[str]:
        """The tokens of the calls of `hang` that are here or were here."""
        return begun

    @server.tool()
    def process_id() -> int:
        """The server's process."""
        return os.getpid()

    @server.tool()
    async def stopped_tokens() -> list[str]:
        """The tokens of the calls of `hang` that were cancelled."""
        return stopped

    @server.tool()
    async def meet(count: int) -> int:
        """Wait until `count` calls are here at once."""
        here = asyncio.Event()
        waiting.append(here)
        if len(waiting) == count:
            for one in waiting:
                one.set()
            waiting.clear()
        await here.wait()
        return count

    @server.tool()
    async def learn(tool: str, ctx: Context) -> str:
        """Have one more tool from now on."""

        def learned() -> str:
            return tool

        server.add_tool(learned, name=tool, description=f"Says {tool}.")
        await ctx.notify_tools_changed()
        await ctx.session.send_tool_list_changed()
        return tool

    return server
