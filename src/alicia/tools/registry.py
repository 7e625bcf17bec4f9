"""`alicia_tools`: what this worker's code and its MCP servers have, as rows."""

from typing import Final

import msgspec

from alicia.storage.pool import Connection
from alicia.storage.tools import RegisteredTool, register_tool, registered_tools, retire_tools
from alicia.tools.definition import Definition

CODE: Final = "code"
"""The source of the built-in tools."""


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to be written down.

    Tools are retired when a source in `listed` no longer has them, or when their source is not `configured`
    at all; those of a server that is merely down stay. Rows without a source are somebody else's.
    """

    tools: list[tuple[Definition, str]]
    listed: set[str]
    configured: set[str]


def mcp_source(server: str) -> str:
    """What `source` is for the tools of an MCP server."""
    return f"mcp:{server}"


async def synchronise(conn: Connection, known: Known) -> None:
    """Write what is new or different, retire what is gone; whether a tool is enabled is never touched."""
    rows = {row.name: row for row in await registered_tools(conn)}
    async with conn.transaction():
        for tool, source in known.tools:
            row = rows.get(tool.name)
            if row is None or _differs(row, tool, source):
                await register_tool(conn, tool.name, tool.description, tool.schema, source)
        here = {tool.name for tool, _ in known.tools}
        gone = [
            row.name
            for row in rows.values()
            if not row.deleted and row.name not in here and _gone(row, known)
        ]
        if gone:
            await retire_tools(conn, gone)


async def read_disabled(conn: Connection) -> frozenset[str]:
    """The names of the tools that are switched off, also of those that are not here now."""
    return frozenset(row.name for row in await registered_tools(conn) if not row.enabled)


def _differs(row: RegisteredTool, tool: Definition, source: str) -> bool:
    return row.deleted or (row.description, row.schema, row.source) != (tool.description, tool.schema, source)


def _gone(row: RegisteredTool, known: Known) -> bool:
    return row.source is not None and (row.source in known.listed or row.source not in known.configured)
