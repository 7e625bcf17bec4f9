"""Small pictures as SVG, for reports: bars beside each other, and lines over a scale of powers."""

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH = 760
COLOURS = ("#5b8def", "#2f6bd8", "#8f7bea", "#d98a3d", "#3fb68b", "#c95f7b", "#7d8794")
GREY = "#b9bfc9"
LEFT = 330
ROW = 30


def frame(title: str, height: float, shapes: Sequence[str]) -> str:
    """A whole picture of these shapes."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
            'font-family="sans-serif" font-size="13">',
            f'<rect width="{WIDTH}" height="{height:.0f}" fill="white"/>',
            text(16, 28, title, size=15),
            *shapes,
            "</svg>\n",
        ]
    )


def text(x: float, y: float, words: str, *, size: int = 13, colour: str = "black") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" fill="{colour}">{escape(words)}</text>'


def bar(x: float, y: float, width: float, colour: str, label: str = "", height: float = 32) -> str:
    """A bar with its label inside, where there is room for it."""
    inside = text(x + 4, y + height / 2 + 5, label, colour="white") if width > 34 and label else ""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:g}" fill="{colour}"/>{inside}'


def bars(title: str, rows: Sequence[tuple[str, float, str]], *, marked: str = "Alicia") -> str:
    """One bar for each (name, value, label); those whose name begins with `marked` stand out."""
    widest = max(value for _, value, _ in rows) or 1.0
    shapes: list[str] = []
    for place, (name, value, label) in enumerate(rows):
        y = 44 + place * ROW
        width = (WIDTH - LEFT - 90) * value / widest
        shapes.append(text(16, y + 16, name))
        shapes.append(bar(LEFT, y, width, COLOURS[1] if name.startswith(marked) else GREY, height=22))
        shapes.append(text(LEFT + width + 6, y + 16, label))
    return frame(title, 56 + len(rows) * ROW, shapes)


def lines(
    title: str,
    places: Sequence[float],
    series: Mapping[str, Sequence[float]],
    unit: str,
    across: str,
    *,
    even: bool = False,
) -> str:
    """A line for each series over places that grow by powers of ten, or evenly."""
    top, bottom, left, right = 60, 300, 70, WIDTH - 170
    highest = max(max(values) for values in series.values()) * 1.1 or 1.0
    scale = [place if even else math.log10(max(place, 1)) for place in places]
    span = (scale[-1] - scale[0]) or 1.0
    xs = [left + (right - left) * (each - scale[0]) / span for each in scale]
    shapes = [f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="{GREY}"/>']
    for share in (0, 0.5, 1):
        value = highest * share
        shapes.append(text(16, bottom - (bottom - top) * share + 4, f"{value:.1f} {unit}", size=11))
    every = max(1, len(places) // 8)
    for place, x in list(zip(places, xs, strict=True))[::every]:
        shapes.append(text(x - 16, bottom + 18, f"{place:,.0f}", size=11))
    shapes.append(text(left, bottom + 38, across, size=11))
    for number, (name, values) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        ys = [bottom - (bottom - top) * value / highest for value in values]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))
        shapes.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        shapes.append(text(right + 10, top + number * 22, name, colour=colour))
    return frame(title, bottom + 52, shapes)
