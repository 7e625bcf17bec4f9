"""`alicia memory …`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from alicia.cli.manage.importing import import_documents, import_lines
from alicia.cli.manage.server import AsJson, Token, Url, connected
from alicia.cli.manage.tables import moment, show, show_json

memory = typer.Typer(
    name="memory", help="Manage what Alicia remembers.", no_args_is_help=True, rich_markup_mode=None
)

Id = Annotated[str, typer.Argument(help="A memory (amem_…).")]
Off = Annotated[bool, typer.Option("--off", help="Take it back.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; may be given again.")]
Type = Annotated[str | None, typer.Option("--type", help="The memory's type, such as fact.")]


@memory.command()
def add(
    content: Annotated[str, typer.Argument(help="What to remember.")],
    tag: Tags = None,
    type_: Type = None,
    importance: Annotated[float | None, typer.Option(min=0, max=1)] = None,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Remember something."""
    new: dict[str, Any] = {"content": content, "tags": tag or [], "memoryType": type_}
    if importance is not None:
        new["importance"] = importance
    with connected(url, token) as server:
        made = server.post("/memories", new)
    if as_json:
        show_json(made)
    else:
        print(made["ids"][0])


@memory.command("list")
def list_(
    tag: Tags = None,
    type_: Type = None,
    archived: Annotated[bool, typer.Option("--archived", help="Those that are put away.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """List memories, newest first."""
    with connected(url, token) as server:
        found = server.every("/memories", limit, tag=tag, memoryType=type_, archived=str(archived).lower())
    if as_json:
        show_json(found)
        return
    rows = [
        (
            each["id"],
            moment(each["createdAt"]),
            "pinned" if each["pinned"] else "",
            " ".join(each["tags"]),
            each["content"],
        )
        for each in found
    ]
    show(("id", "since", "", "tags", "content"), rows, "No memories.")


@memory.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    tag: Tags = None,
    type_: Type = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many at most.")] = 10,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Search memories as an answer would, best first, with the scores."""
    wanted = {"query": query, "tags": tag or [], "memoryType": type_, "limit": limit}
    with connected(url, token) as server:
        found = server.post("/memories/search", wanted)["items"]
    if as_json:
        show_json(found)
        return
    rows = [
        (
            each["id"],
            f"{each['score']:.2f}",
            f"{each['parts']['meaning']:.2f}",
            f"{each['parts']['words']:.2f}",
            each["content"],
        )
        for each in found
    ]
    show(("id", "score", "meaning", "words", "content"), rows, "Nothing found.")


@memory.command("import")
def import_(
    path: Annotated[
        Path,
        typer.Argument(help="A document or a folder of them, or .jsonl with a memory per line.", exists=True),
    ],
    tag: Tags = None,
    url: Url = None,
    token: Token = None,
) -> None:
    """Remember documents: text, Markdown, HTML and PDF. What has not changed since the last time is kept."""
    with connected(url, token) as server:
        if path.suffix == ".jsonl":
            import_lines(server, path, tag or [])
        else:
            import_documents(server, path, tag or [])


@memory.command()
def edit(
    memory_id: Id,
    content: Annotated[str, typer.Argument(help="What it says from now on.")],
    url: Url = None,
    token: Token = None,
) -> None:
    """Correct a memory."""
    with connected(url, token) as server:
        server.patch(f"/memories/{memory_id}", content=content)


@memory.command()
def uses(
    memory_id: Id,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """List where a memory was used, stored or changed, latest first."""
    with connected(url, token) as server:
        found = server.every(f"/memories/{memory_id}/uses", limit)
    if as_json:
        show_json(found)
        return
    rows = [
        (
            moment(each["createdAt"]),
            each["action"],
            "" if each["similarityScore"] is None else f"{each['similarityScore']:.2f}",
            each["messageId"],
            each["conversationId"],
        )
        for each in found
    ]
    show(("when", "", "alike", "message", "conversation"), rows, "Never used.")


@memory.command()
def pin(memory_id: Id, off: Off = False, url: Url = None, token: Token = None) -> None:
    """Have a memory looked at for every answer."""
    with connected(url, token) as server:
        server.patch(f"/memories/{memory_id}", pinned=not off)


@memory.command()
def archive(memory_id: Id, off: Off = False, url: Url = None, token: Token = None) -> None:
    """Put a memory away: it is kept, but not recalled."""
    with connected(url, token) as server:
        server.patch(f"/memories/{memory_id}", archived=not off)


@memory.command()
def rate(
    memory_id: Id,
    rating: Annotated[int, typer.Argument(min=1, max=5, help="From 1, useless, to 5.")],
    url: Url = None,
    token: Token = None,
) -> None:
    """Say how useful a memory is."""
    with connected(url, token) as server:
        server.patch(f"/memories/{memory_id}", userRating=rating)


@memory.command()
def delete(
    memory_id: Id,
    erase: Annotated[bool, typer.Option("--erase", help="Really: nothing of it remains.")] = False,
    url: Url = None,
    token: Token = None,
) -> None:
    """Forget a memory."""
    with connected(url, token) as server:
        server.delete(f"/memories/{memory_id}", erase=str(erase).lower())


@memory.command()
def restore(memory_id: Id, url: Url = None, token: Token = None) -> None:
    """Take back that a memory was deleted; one that was erased is gone."""
    with connected(url, token) as server:
        server.post(f"/memories/{memory_id}/restore", {})
