"""`/tools`: what answers may use, and switching it on and off."""

from typing import Annotated, Any

from fastapi import Path
from msgspec import field

from alicia.api.calls import Calls
from alicia.api.problems import Problem, documented
from alicia.api.scope import Administrator, Conn, User
from alicia.api.shapes import NO_NUL, Answer, Json, Moment, Page, shown
from alicia.storage import tools as stored

routes = Calls("tools")


class Tool(Answer, frozen=True, kw_only=True):
    """A tool; its `parameters` are a JSON Schema."""

    name: Annotated[str, shown("calculator")]
    description: str
    schema: dict[str, Any] = field(name="parameters")
    enabled: bool
    updated_at: Moment


class Switch(Json):
    """Whether answers may use the tool."""

    enabled: bool


@routes.get("/tools", summary="List tools", responses=documented(401, 503))
async def list_tools(user: User, conn: Conn) -> Page[Tool]:
    """Every tool by name, in one page."""
    return Page(items=[Tool.of(tool) for tool in await stored.tools(conn)])


@routes.patch(
    "/tools/{name}",
    summary="Switch a tool on or off",
    responses=documented(401, 403, 404, 413, 422, 429, 503),
)
async def switch_tool(
    name: Annotated[str, Path(max_length=200, pattern=NO_NUL)],
    switch: Switch,
    user: Administrator,
    conn: Conn,
) -> Tool:
    """For everybody who uses this server; with logins this needs a token made for an administrator."""
    tool = await stored.enable_tool(conn, name, switch.enabled)
    if tool is None:
        raise Problem(404, "There is no such tool.")
    return Tool.of(tool)
