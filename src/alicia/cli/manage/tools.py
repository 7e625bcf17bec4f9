"""`alicia tools`."""

from typing import Annotated

import typer

from alicia.cli.manage.server import AsJson, Token, Url, connected
from alicia.cli.manage.tables import show, show_json


def tools(
    name: Annotated[
        str | None, typer.Argument(help="A tool to switch on or off; all are listed if left out.")
    ] = None,
    on: Annotated[bool | None, typer.Option("--on/--off", help="Whether answers may use it.")] = None,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """List the tools of answers, or switch one on or off."""
    with connected(url, token) as server:
        if name is not None and on is not None:
            found = [server.patch(f"/tools/{name}", enabled=on)]
        else:
            found = [each for each in server.get("/tools")["items"] if name in (None, each["name"])]
    if as_json:
        show_json(found)
        return
    rows = [(each["name"], "on" if each["enabled"] else "off", each["description"]) for each in found]
    show(
        ("name", "", "what it does"), rows, "No such tool." if name else "No tools yet: an agent brings them."
    )
