"""The tables and the picture of bench/voice_turn.py."""

import json
import statistics
from collections.abc import Mapping
from pathlib import Path

import drawing
from machine import keep
from voice_parts import PARTS, Turn

RESULTS = Path(__file__).parent / "results"
LEFT = 140.0
MOST_RATIO, MOST_HUSH = 1.0, 0.3
MODELS = {
    "scripted": "a scripted language model: 0.35 s to its first word, 0.06 s for each one after it",
    "small": "SmolLM2-135M, on the same two cores, sentences of six words",
    "large": "Qwen2.5-Coder-1.5B, on the same two cores, sentences of six words",
}
COUNTED = """The parts are taken from what Alicia stores of each turn (`GET /api/v1/messages/{id}/trace`) and,
for the end of speech and the first sound, from the client's clock; those of a turn add up to its total. A
part is what the user waits for it: speech to text, recall, the model and the voice work already while the end
of the turn is uncertain, and of that only what is left afterwards is counted. Network is from handing the
first sound to LiveKit until it is loud at the client; the way of the user's voice to the agent is in the
end-of-turn wait. The plain session ends a turn by LiveKit's own rules, Alicia by those and the words
(`src/alicia/speech/turn_end.py`)."""


def p50(values: list[float]) -> float:
    return statistics.median(values)


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


class Run:
    """What was measured with one language model."""

    def __init__(self, size: str, path: Path) -> None:
        held = json.loads(path.read_text())
        self.size = size
        self.lost = len(held["lost"])
        self.turns = [Turn(**each) for each in held["alicia"]]
        self.plain = [float(each) for each in held["plain"]]
        self.total = [each.total for each in self.turns]

    @property
    def limits(self) -> list[tuple[str, float, float]]:
        hushed = [each.hushed for each in self.turns]
        return [
            ("p50, Alicia / plain", p50(self.total) / p50(self.plain), MOST_RATIO),
            ("p95, Alicia / plain", p95(self.total) / p95(self.plain), MOST_RATIO),
            ("asked for silence until there is, p95, s", p95(hushed), MOST_HUSH),
        ]

    def parts(self) -> list[list[float]]:
        return [list(each) for each in zip(*(turn.parts for turn in self.turns), strict=True)]

    @property
    def mean_parts(self) -> list[float]:
        return [statistics.fmean(values) for values in self.parts()]

    def text(self) -> str:
        rows = [("plain AgentSession", self.plain), ("Alicia", self.total)]
        rows += [(f"… {name}", values) for name, values in zip(PARTS, self.parts(), strict=True)]
        works = [turn.work for turn in self.turns]
        early = sum(turn.cut for turn in self.turns)
        hidden = [(name, [work[name] for work in works]) for name in works[0]]
        return "\n\n".join(
            [
                f"## With {MODELS[self.size]}",
                f"{len(self.turns)} turns of Alicia and {len(self.plain)} of the plain session, "
                f"in ms after the end of speech. {early} of Alicia's were taken for over too early; "
                f"{self.lost} blocks of ten were thrown away because a turn got no answer.",
                _table(rows),
                "How long the work took, whether anybody waited for it or not:",
                _table(hidden),
                _limits(self.limits),
            ]
        )


def _table(rows: list[tuple[str, list[float]]]) -> str:
    lines = ["| | mean | p50 | p95 |", "|---|---:|---:|---:|"]
    for name, values in rows:
        figures = (statistics.fmean(values), p50(values), p95(values))
        lines.append(f"| {name} | " + " | ".join(f"{figure * 1e3:.0f}" for figure in figures) + " |")
    return "\n".join(lines)


def _limits(limits: list[tuple[str, float, float]]) -> str:
    lines = ["| limit | measured | at most |", "|---|---:|---:|"]
    lines += [
        f"| {name} | {value:.2f}{'' if value <= most else ', missed'} | {most} |"
        for name, value, most in limits
    ]
    return "\n".join(lines)


def report(paths: Mapping[str, Path]) -> bool:
    """Write all that was measured; whether the limits are met."""
    runs = [Run(size, path) for size, path in paths.items() if path.exists()]
    text = "\n\n".join(run.text() for run in runs)
    print(text, flush=True)
    keep(
        RESULTS / "voice_turn.md",
        f"# A turn in speech\n\n`bench/voice_turn.py`\n\n{COUNTED}\n\n{text}\n\n"
        "![the parts of a turn](voice_turn.svg)\n",
    )
    RESULTS.joinpath("voice_turn.svg").write_text(picture(runs))
    return all(value <= most for run in runs for _, value, most in run.limits)


def picture(runs: list[Run]) -> str:
    """Stacked bars of the means, which add up; the plain session's as one."""
    widest = max(max(sum(run.mean_parts), statistics.fmean(run.plain)) for run in runs)
    scale, shapes, y = 540 / widest, list[str](), 50
    for run in runs:
        mean = statistics.fmean(run.plain)
        shapes.append(drawing.text(16, y + 21, f"plain, {run.size}"))
        shapes.append(drawing.bar(LEFT, y, mean * scale, drawing.GREY, f"{mean * 1e3:.0f} ms"))
        shapes.append(drawing.text(16, y + 61, f"Alicia, {run.size}"))
        x = LEFT
        for value, colour in zip(run.mean_parts, drawing.COLOURS, strict=True):
            shapes.append(drawing.bar(x, y + 40, value * scale, colour, f"{value * 1e3:.0f}"))
            x += value * scale
        shapes.append(drawing.text(x + 6, y + 61, f"{sum(run.mean_parts) * 1e3:.0f} ms"))
        y += 96
    for index, (name, colour) in enumerate(zip(PARTS, drawing.COLOURS, strict=True)):
        x, row = 16 + index % 4 * 180, y + 8 + index // 4 * 22
        shapes += [drawing.bar(x, row, 12, colour, height=12), drawing.text(x + 18, row + 11, name)]
    return drawing.frame("From the end of speech to the first sound, mean", y + 60, shapes)
