"""The pictures of bench/report.md, drawn from the tables of the results."""

import re
from pathlib import Path

import drawing

Rows = list[list[str]]


def draw(results: Path) -> None:
    """Draw all that there are results for, beside them."""
    for name, make in _PICTURES.items():
        path = results / f"{name}.md"
        if path.exists() and (picture := make(path.read_text("utf-8"))):
            results.joinpath(f"{name}.svg").write_text(picture, "utf-8")


def _rows(text: str, first: str) -> Rows:
    """The table whose heading begins so; with its heading."""
    block = re.search(rf"^\| {re.escape(first)}.*(?:\n\|.*)+", text, re.M)
    if block is None:
        return []
    lines = [line for line in block[0].splitlines() if set(line) - set("|-: ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def _number(text: str) -> float:
    found = re.search(r"\d[\d,]*(?:\.\d+)?", text)
    return float(found[0].replace(",", "")) if found else 0.0


def _text_turn(text: str) -> str:
    rows = [row for row in _rows(text, "first sentence")[1:] if not row[0].startswith("50 ")]
    if not rows:
        return ""
    bars = [(row[0].replace("… ", "Alicia, "), _number(row[1]), f"{row[1]} ms") for row in rows]
    return drawing.bars("A turn in text, p50 in ms", bars)


def _quality(text: str) -> str:
    rows = _rows(text, "search")
    if not rows:
        return ""
    place = rows[0].index("any @10")
    bars = [(row[0].replace("`", ""), _number(row[place]), row[place]) for row in rows[1:]]
    return drawing.bars("Questions with any of their evidence among the first 10", bars)


def _speed(text: str) -> str:
    rows = _rows(text, "own memories")
    if not rows:
        return ""
    head, *body = rows
    series = {name: [_number(row[head.index(name)]) for row in body] for name in ("p50", "p95")}
    sizes = [_number(row[0]) for row in body]
    return drawing.lines("A recall, as the owner's memories grow", sizes, series, "ms", "own memories")


def _api(text: str) -> str:
    rows = _rows(text, "read ")
    bars = [(row[0], _number(row[-1]), f"{row[-1]} ×") for row in rows[1:]]
    return drawing.bars("Reads beside a bare handler with the same SQL", bars) if bars else ""


def _soak(text: str) -> str:
    rows = _rows(text, "after |")
    if not rows:
        return ""
    head, *body = rows
    series = {kind: [_number(row[head.index(kind)]) for row in body] for kind in head[1:-1]}
    minutes = [_number(row[0]) for row in body]
    across = "minutes; a part that was killed holds nothing until it is back"
    return drawing.lines("Memory through the soak", minutes, series, "MiB", across, even=True)


_PICTURES = {
    "text_turn": _text_turn,
    "memory_quality": _quality,
    "memory_speed": _speed,
    "api": _api,
    "soak": _soak,
}
