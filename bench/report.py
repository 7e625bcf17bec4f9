"""`make report`: bench/report.md, made of what the benchmarks left in bench/results."""

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from catalogue import BENCH, BENCHMARKS, EXTRA, RESULTS
from machine import MEASURED, machine
from pictures import draw

REPORT = BENCH / "report.md"
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True)
class Limit:
    """Something that was asked for, and what came of it."""

    what: str
    wanted: str
    measured: str
    met: bool


def tables(text: str) -> list[list[list[str]]]:
    """Every table: its rows, the heading first, without the line below it."""
    found: list[list[list[str]]] = []
    inside = False
    for line in text.splitlines():
        if not line.startswith("|"):
            inside = False
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not inside:
            found.append([])
        inside = True
        if set("".join(cells)) - set("-: "):
            found[-1].append(cells)
    return found


def number(text: str) -> float | None:
    """The first number in a text."""
    found = NUMBER.search(text)
    return float(found[0].replace(",", "")) if found else None


def limits(name: str, text: str) -> list[Limit]:
    """What the results of a benchmark say of limits, in tables or in words."""
    found = [limit for part in text.split("\n## ") for limit in _of_part(part)]
    if share := re.search(r"\((\d+%); at least (\d+%) are wanted\)", text):
        found.append(_judged("decided rightly", f"≥ {share[2]}", share[1]))
    derive = _DERIVED.get(name)
    return [*found, *derive(text)] if derive else found


def _of_part(part: str) -> list[Limit]:
    """Those of one heading, which says what they hold for."""
    heading = re.split(r"[\n:,]", part, maxsplit=1)[0]
    about = "" if heading.startswith("#") else f" ({heading.lower()})"
    found = [limit for table in tables(part) for limit in _of_table(table, about)]
    said = re.findall(r"^- (met|MISSED): (.+)$", part, re.MULTILINE)
    return found + [Limit(words, "", "", met == "met") for met, words in said]


def _of_table(rows: list[list[str]], about: str) -> list[Limit]:
    head = rows[0]
    wanted = next((place for place, cell in enumerate(head) if cell in ("at most", "wanted", "target")), None)
    if wanted is None or "measured" not in head:
        return []
    measured = head.index("measured")
    sign = "≤ " if head[wanted] == "at most" else ""
    return [
        _judged(f"{row[0]}{about}", f"{sign}{row[wanted]}", row[measured])
        for row in rows[1:]
        if len(row) == len(head) and row[wanted]
    ]


def _judged(what: str, wanted: str, measured: str) -> Limit:
    asked, came = number(wanted), number(measured)
    if measured.endswith(", missed"):
        met = False
    elif asked is None or came is None:
        met = True
    else:
        met = (
            came >= asked
            if wanted.startswith("≥")
            else came < asked
            if wanted.startswith("<")
            else came <= asked
        )
    return Limit(what, wanted, measured.removesuffix(", missed"), met)


def _of_quality(text: str) -> list[Limit]:
    head, *rows = tables(text)[0]
    any_at, all_at = head.index("any @10"), head.index("all @10")
    found = {row[0]: (number(row[any_at]) or 0.0, number(row[all_at]) or 0.0) for row in rows}
    ours = found.pop("Alicia")
    best = max(each[0] for each in found.values())
    return [
        _judged("any of the evidence among the first 10", "≥ 76%", f"{ours[0]:.1f}%"),
        _judged("all of the evidence among the first 10", "≥ 66%", f"{ours[1]:.1f}%"),
        _judged("points above the best plain search", "≥ 8", f"{ours[0] - best:.1f}"),
    ]


def _of_speed(text: str) -> list[Limit]:
    found: list[Limit] = []
    for head, *rows in tables(text):
        last = dict(zip(head, rows[-1], strict=True))
        if head[0] == "own memories":
            nearest = min(number(row[head.index("nearest")]) or 0.0 for row in rows)
            found.append(_judged("nearest found, beside exact search", "≥ 0.98", f"{nearest:.3f}"))
            found.append(_judged(f"recall among {last[head[0]]} own memories, p95", "≤ 20 ms", last["p95"]))
        elif "ratio" in head:
            worst = max(number(row[head.index("ratio")]) or 0.0 for row in rows)
            what = f"recall with up to {last[head[0]]} memories of others beside none"
            found.append(_judged(what, "≤ 1.5 ×", f"{worst:.2f} ×"))
    return found


def _of_soak(text: str) -> list[Limit]:
    """There are results only if the whole proof held, or if they say that memory did not."""
    flat = "not flat" not in text
    minutes = re.search(r"`make soak`: ([\d.]+) minutes", text)
    asked = f"{minutes[1]} minutes" if minutes else "a run"
    return [
        Limit(
            f"{asked} of faults: nothing lost, twice or stuck; memory and connections flat",
            "all",
            "all" if flat else "all but memory",
            flat,
        )
    ]


_DERIVED: dict[str, Callable[[str], list[Limit]]] = {
    "memory_quality": _of_quality,
    "memory_speed": _of_speed,
    "soak": _of_soak,
}


def section(name: str, text: str) -> str:
    """A benchmark's results as a part of the report, with its pictures."""
    body = re.sub(r"^(#+) ", r"#\1 ", text.strip(), flags=re.M)
    body = re.sub(r"\]\((\w+\.svg)\)", r"](results/\1)", body)
    if MEASURED not in text:
        heading, _, rest = body.partition("\n")
        body = f"{heading}\n\n{_kept(name)}\n{rest}"
    picture = RESULTS / f"{name}.svg"
    if picture.exists() and f"{name}.svg" not in body:
        body += f"\n\n![{name}](results/{name}.svg)"
    return f"{body}\n\n[results/{name}.md](results/{name}.md)"


def _kept(name: str) -> str:
    """When results that do not say so themselves were kept."""
    told = subprocess.run(
        ["git", "log", "-1", "--format=%cs, with commit %h", "--", str(RESULTS / f"{name}.md")],
        cwd=BENCH,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return f"Kept {told or 'without a date'}."


def build(results: Path = RESULTS) -> str:
    """The whole report."""
    names = [*(each.name for each in BENCHMARKS), *EXTRA]
    texts = {
        name: results.joinpath(f"{name}.md").read_text("utf-8")
        for name in names
        if results.joinpath(f"{name}.md").exists()
    }
    rows = [
        f"| {name} | {limit.what} | {limit.wanted} | {limit.measured} | {'yes' if limit.met else '**no**'} |"
        for name, text in texts.items()
        for limit in limits(name, text)
    ]
    missing = [f"- results/{name}.md: not measured yet" for name in names if name not in texts]
    parts = [
        "# What was measured",
        "`make bench` runs every benchmark and makes this report; `make report` only makes the report, of "
        "what is in `bench/results`. Figures are compared within one run, as ratios, since machines differ. "
        "Each section says when, at which commit and where it was measured.",
        f"The report was put together on {machine()}.",
        "## Limits",
        "\n".join(["| benchmark | what | wanted | measured | met |", "|---|---|---:|---:|---|", *rows]),
        *(["\n".join(missing)] if missing else []),
        *(section(name, text) for name, text in texts.items()),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    draw(RESULTS)
    REPORT.write_text(build(), "utf-8")
    print(f"The report is in {REPORT.relative_to(BENCH.parent)}.")


if __name__ == "__main__":
    main()
