"""The table and the picture of bench/voice_turn.py."""

import statistics
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
COLOURS = ("#5b8def", "#8f7bea", "#3fb68b", "#b9bfc9")
PARTS = ("end of turn and speech to text", "recall and first sentence", "voice and network")
MOST_RATIO, MOST_HUSH = 1.0, 0.3


@dataclass
class Turn:
    """One spoken turn with Alicia; seconds after the end of speech."""

    total: float
    sure: float
    """The user's message is stored and here."""
    sentence: float
    """The first sentence is stored and here."""
    hushed: float
    """From asking for silence to the last sound."""
    interims: int

    def as_map(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def parts(self) -> tuple[float, float, float]:
        return self.sure, self.sentence - self.sure, self.total - self.sentence


def p50(values: list[float]) -> float:
    return statistics.median(values)


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def report(held: dict[str, list[Any]]) -> bool:
    """Write both; whether the limits are met."""
    turns, plain = [Turn(**each) for each in held["alicia"]], [float(each) for each in held["plain"]]
    total = [each.total for each in turns]
    rows = [("plain AgentSession", plain), ("Alicia", total)]
    rows += [(f"… {name}", [each.parts[index] for each in turns]) for index, name in enumerate(PARTS)]
    rows.append(("asked for silence until there is", [each.hushed for each in turns]))
    lines = [
        f"{len(turns)} turns each, in ms after the end of speech:",
        "",
        "| | p50 | p95 |",
        "|---|---:|---:|",
    ]
    lines += [f"| {name} | {p50(values) * 1e3:.0f} | {p95(values) * 1e3:.0f} |" for name, values in rows]
    limits = (
        ("p50, Alicia / plain", p50(total) / p50(plain), MOST_RATIO),
        ("p95, Alicia / plain", p95(total) / p95(plain), MOST_RATIO),
        ("silence p95, s", p95([each.hushed for each in turns]), MOST_HUSH),
    )
    lines += ["", "| limit | measured | at most |", "|---|---:|---:|"]
    lines += [
        f"| {name} | {value:.2f}{'' if value <= most else ', missed'} | {most} |"
        for name, value, most in limits
    ]
    text = "\n".join(lines)
    print(text)
    RESULTS.joinpath("voice_turn.md").write_text(
        f"# A turn in speech\n\n`bench/voice_turn.py`\n\n{text}\n\n![the parts of a turn](voice_turn.svg)\n"
    )
    RESULTS.joinpath("voice_turn.svg").write_text(picture(turns, plain))
    return all(value <= most for _, value, most in limits)


def picture(turns: list[Turn], plain: list[float]) -> str:
    """Stacked bars of the medians, the plain session's as one."""
    parts = [p50([each.parts[index] for each in turns]) for index in range(len(PARTS))]
    scale = 560 / max(sum(parts), p50(plain))
    shapes = [_bar(0, 60, p50(plain) * scale, COLOURS[3], f"{p50(plain) * 1e3:.0f} ms")]
    x = 0.0
    for value, colour in zip(parts, COLOURS, strict=False):
        shapes.append(_bar(x, 120, value * scale, colour, f"{value * 1e3:.0f}"))
        x += value * scale
    for index, (name, colour) in enumerate(zip(PARTS, COLOURS, strict=False)):
        at = 20 + index * 220
        shapes.append(f'<rect x="{at}" y="180" width="12" height="12" fill="{colour}"/>')
        shapes.append(f'<text x="{at + 18}" y="191">{name}</text>')
    body = "\n".join(shapes)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 210" '
        'font-family="sans-serif" font-size="13">\n'
        '<rect width="720" height="210" fill="white"/>\n'
        '<text x="20" y="28" font-size="15">From the end of speech to the first sound, median</text>\n'
        '<text x="20" y="81">plain</text>\n<text x="20" y="141">Alicia</text>\n'
        f"{body}\n</svg>\n"
    )


def _bar(x: float, y: int, width: float, colour: str, label: str) -> str:
    text = f'<text x="{80 + x + 4:.0f}" y="{y + 21}" fill="white">{label}</text>' if width > 40 else ""
    return f'<rect x="{80 + x:.0f}" y="{y}" width="{width:.0f}" height="32" fill="{colour}"/>{text}'
