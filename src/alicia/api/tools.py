"""`/tools`: what answers may use, and switching it on and off."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import Field

from alicia.api.problems import Problem, documented
from alicia.api.scope import Administrator, Conn, User
from alicia.api.shapes import NO_NUL, Answer, Json, Page
from alicia.storage import tools as stored

routes = APIRouter(tags=["tools"])


class Tool(Answer):
    """A tool; its `parameters` are a JSON Schema."""

    name: str = Field(examples=["calculator"])
    description: str
    parameters: dict[str, Any]
    enabled: bool
    updated_at: datetime


class Switch(Json):
    """Whether answers may use the tool."""

    enabled: bool


def _shown(tool: stored.Tool) -> Tool:
    return Tool(
        name=tool.name,
        description=tool.description,
        parameters=tool.schema,
        enabled=tool.enabled,
        updated_at=tool.updated_at,
    )


@routes.get("/tools", summary="List tools", responses=documented(401, 503))
async def list_tools(user: User, conn: Conn) -> Page[Tool]:
    """Every tool by name, in one page."""
    return Page(items=[_shown(tool) for tool in await stored.tools(conn)])


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
    return _shown(tool)
