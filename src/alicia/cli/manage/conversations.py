"""`alicia conversations` and `alicia trace`."""

from typing import Annotated, Any, Literal

import typer

from alicia.cli.manage.server import AsJson, Token, Url, connected
from alicia.cli.manage.tables import moment, printable, show, show_json

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
    message: Annotated[str, typer.Argument(help="A message (am_…).")],
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Show everything that made a message: memories, reasoning, tools, sentences, sound and notes."""
    with connected(url, token) as server:
        found = server.get(f"/messages/{message}/trace")
    if as_json:
        show_json(found)
        return
    for line in lines(found):
        print(line)


def lines(trace: dict[str, Any]) -> list[str]:
    """The trace, line by line, in the order in which things came about."""
    message = trace["message"]
    out = [f"{message['id']}  {message['role']}, {message['status']}, {moment(message['createdAt'])}"]
    out += [
        f"  memory    {each['action']}: {printable(each['content'])}"
        f"  ({each['memoryId']}{_share(' similarity', each['similarityScore'])})"
        for each in trace["memories"]
    ]
    steps = [(each["sequence"], f"  thought   {printable(each['content'])}") for each in trace["reasoning"]]
    steps += [(each["sequence"], _tool(each)) for each in trace["toolUses"]]
    out += [line for _, line in sorted(steps)]
    out += [
        f"  sentence  {printable(each['text'])}"
        + (f"  ({each['durationMs']} ms)" if each["durationMs"] else "")
        for each in trace["sentences"]
    ]
    if not trace["sentences"]:
        out.append(f"  text      {printable(message['content'])}")
    out += [
        f"  sound     {each['audioFormat'] or 'no format'}, {each['durationMs'] or 0} ms:"
        f" {printable(each['transcription'])}  ({each['id']})"
        for each in trace["audio"]
    ]
    out += [f"  note      {printable(each['content'])}" for each in trace["notes"]]
    out += [
        f"  meta      {printable(each['key'])} = {printable(each['value'])}  ({each['ref']})"
        for each in trace["meta"]
    ]
    out.append(f"  stanzas   {' '.join(str(each['stanzaId']) for each in trace['stanzas']) or 'none'}")
    return out


def _share(name: str, value: float | None) -> str:
    return "" if value is None else f",{name} {value:.2f}"


def _tool(use: dict[str, Any]) -> str:
    import json

    given = json.dumps(use["toolArguments"], ensure_ascii=False)
    result = use["errorMessage"] or json.dumps(use["toolResult"], ensure_ascii=False)
    return f"  tool      {use['toolName']} {printable(given)} → {use['status']}: {printable(result)}"
