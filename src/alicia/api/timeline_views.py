"""The events of messages as lines of text, and as a page with their waterfall that needs nothing else."""

from base64 import b64encode
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from html import escape
from typing import Final

from alicia.api.timeline import Event, events, trace_id
from alicia.storage.traces import Trace

WIDTH: Final = 1_000
ROW: Final = 22
LABELS: Final = 110
LONGEST: Final = 400
"""Characters of an event's text in the waterfall's tooltips and in lines; the table has all."""
COLOURS: Final = {
    "heard": "#7a6ff0",
    "asked": "#3b82f6",
    "remembered": "#14b8a6",
    "learned": "#0d9488",
    "waited": "#d4d4d4",
    "thought": "#a3a3a3",
    "tool": "#f59e0b",
    "said": "#22c55e",
    "spoke": "#86efac",
    "noted": "#ec4899",
}
STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 0.9rem/1.4 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0 3rem; }
th, td { border: 1px solid #8886; padding: 0.2rem 0.5rem; text-align: left; vertical-align: top; }
td { overflow-wrap: anywhere; }
svg text { font-size: 13px; fill: #888; }
"""
POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'"
)
"""What a browser may do with the page: show it."""
PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
{turns}
</body>
</html>
"""


def as_text(turns: Sequence[Sequence[Trace]]) -> str:
    """Line by line; `turns` are the traces of a question and of its answer each."""
    return "\n\n".join("\n".join(_lines(turn)) for turn in turns) + "\n"


def _lines(turn: Sequence[Trace]) -> list[str]:
    found = events(turn)
    start = found[0].start
    return [
        *(_title(trace) for trace in turn),
        *(f"  {_since(event.start, start):>9}  {event.what:<10}  {_told(event)}" for event in found),
    ]


def _told(event: Event) -> str:
    took = _seconds(event.start, event.end)
    parts = [_short(event.text), f"({took:.3f} s)" if took else "", _short(event.detail), f"[{event.ref}]"]
    return "  ".join(filter(None, parts))


def as_page(title: str, turns: Sequence[Sequence[Trace]]) -> str:
    """One HTML file without any script."""
    shown = "\n".join(_turn(each) for each in turns)
    return PAGE.format(title=escape(_printable(title)), style=STYLE, turns=shown)


def _turn(turn: Sequence[Trace]) -> str:
    found = events(turn)
    heading = "".join(f"<p><code>{escape(_title(trace))}</code></p>" for trace in turn)
    rows = "".join(_row(event, found[0].start) for event in found)
    head = "<tr><th>after</th><th>took</th><th>what</th><th>text</th><th>known of it</th><th>id</th></tr>"
    return (
        f'{heading}{_waterfall(found)}<table border="1" cellpadding="4" cellspacing="0">{head}{rows}</table>'
    )


def _row(event: Event, start: datetime) -> str:
    cells = [
        _since(event.start, start),
        f"{_seconds(event.start, event.end):.3f} s",
        event.what,
        event.text,
        event.detail,
        event.ref,
    ]
    return f"<tr>{''.join(f'<td>{escape(_printable(cell))}</td>' for cell in cells)}</tr>"


def _waterfall(found: Sequence[Event]) -> str:
    start, end = found[0].start, max(event.end for event in found)
    total = max(_seconds(start, end), 0.001)

    def bar(number: int, event: Event) -> str:
        left = LABELS + (WIDTH - LABELS) * _seconds(start, event.start) / total
        length = max((WIDTH - LABELS) * _seconds(event.start, event.end) / total, 3)
        top = number * ROW
        tip = f"{_since(event.start, start)} {event.what}: {_short(event.text)}"
        return (
            f'<text x="0" y="{top + 15}">{event.what}</text>'
            f'<rect x="{left:.1f}" y="{top + 3}" width="{length:.1f}" height="{ROW - 6}" rx="3" '
            f'fill="{COLOURS.get(event.what, "#888")}"><title>{escape(tip)}</title></rect>'
        )

    bars = "".join(bar(number, event) for number, event in enumerate(found))
    height = len(found) * ROW
    return f'<svg viewBox="0 0 {WIDTH + 10} {height}" width="100%" role="img">{bars}</svg>'


def _title(trace: Trace) -> str:
    message = trace.message
    at = message.created_at.isoformat(" ", "milliseconds")
    known = trace_id(trace)
    numbers = " ".join(str(stanza.stanza_id) for stanza in trace.stanzas)
    told = f"{message.id}  {message.message_role}, {message.completion_status}, {at}"
    return told + (f", trace {known}" if known else "") + (f", stanzas {numbers}" if numbers else "")


def _since(moment: datetime, start: datetime) -> str:
    return f"+{_seconds(start, moment):.3f} s"


def _seconds(start: datetime, end: datetime) -> float:
    return (end - start).total_seconds()


def _short(text: str) -> str:
    text = _printable(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _printable(text: str) -> str:
    """On one line, without control characters: what users wrote must not steer a terminal."""
    return "".join(each if each.isprintable() else " " for each in text)
