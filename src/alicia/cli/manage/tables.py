"""How answers look in a terminal."""

import json
from collections.abc import Sequence
from typing import Any


def show_json(value: Any) -> None:
    """As JSON, for scripts."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def show(headings: Sequence[str], rows: Sequence[Sequence[object]], nothing: str) -> None:
    """As a table; ids are never cut, so that they can be copied."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not rows:
        print(nothing)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading == "id")
    for row in rows:
        # As plain text: what users wrote is not markup, and must not steer the terminal.
        table.add_row(*(Text(printable(cell)) for cell in row))
    console = Console()
    if not console.is_terminal:
        # A pipe has no width: one line for each row.
        console = Console(width=10_000)
    console.print(table)


def printable(value: object) -> str:
    """A value on one line, without control characters."""
    text = "" if value is None else str(value)
    return "".join(each if each.isprintable() else " " for each in text)


def moment(text: str) -> str:
    """A timestamp in the reader's time zone, to the minute."""
    from datetime import datetime

    return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M")
