"""`alicia conversations` and `alicia trace`."""

from typing import Annotated, Any, Literal

import typer

from alicia.cli.manage.server import AsJson, Token, Url, connected
from alicia.cli.manage.tables import moment, show, show_json
from alicia.errors import AliciaError

Status = Literal["active", "archived", "deleted"]


def conversations(
    query: Annotated[str | None, typer.Argument(help="Words of titles and messages.")] = None,
    status: Annotated[Status | None, typer.Option(help="Only these.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """List conversations, latest first, or search in all of them."""
    with connected(url, token) as server:
        found = server.every("/conversations", limit, query=query, status=status)
    if as_json:
        show_json(found)
        return
    rows = [
        (each["id"], moment(each["updatedAt"]), each["status"], each["title"] or "(no title)", _snippet(each))
        for each in found
    ]
    show(("id", "last activity", "status", "title", "found" if query else ""), rows, "No conversations.")


def _snippet(conversation: dict[str, Any]) -> str:
    return (conversation["snippet"] or {"text": ""})["text"]


def trace(
    thing: Annotated[str, typer.Argument(help="A message (am_…) or a conversation (ac_…).")],
    html: Annotated[bool, typer.Option("--html", help="Print a page with the waterfall.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=200, help="Of a conversation: how many messages.")] = 20,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Show who knew what when.

    That is what was heard, remembered, thought, done and said for a message.
    """
    if not thing.startswith(("am_", "ac_")):
        raise AliciaError("What is traced is a message (am_…) or a conversation (ac_…).")
    of_conversation = thing.startswith("ac_")
    path = f"/{'conversations' if of_conversation else 'messages'}/{thing}/trace"
    query = {"limit": limit} if of_conversation else {}
    with connected(url, token) as server:
        if as_json:
            show_json(server.get(path, **query))
        else:
            print(server.text(path, format="html" if html else "text", **query), end="")
