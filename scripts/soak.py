"""`make soak`: conversations for half an hour while everything breaks, and the proof that nothing was lost.

Writes bench/results/soak.md. Run with `tests` and `bench` on PYTHONPATH.
"""

import argparse
import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from machine import described
from support import links, soak

RESULTS = Path(__file__).parents[1] / "bench" / "results" / "soak.md"
ROWS = 30
"""Of the samples, so many are shown."""
PROOF = (
    "Of every conversation the log that a new device gets, and what each program had heard through all "
    "its reloads, were the journal; messages, sentences, thoughts and uses of memories were the rows of "
    "the journal, each once; every question had one whole answer; nothing was left unfinished."
)


def report(done: soak.Soak, minutes: float, refusal: str) -> str:
    people = done.talkers
    asked = sum(len(talker.asked) for talker in people)
    recorded = sum(len(talker.clips) for talker in people)
    aloud = sum(talker.aloud for talker in people)
    broken = ", ".join(f"{what} {count}" for what, count in sorted(done.faults.items()))
    lines = [
        "# Soak",
        "",
        f"`make soak`: {minutes:g} minutes. {described()}",
        "",
        f"{len(people)} conversations: {asked} questions in writing, {recorded} recordings, {aloud} times "
        f"said into a microphone; {sum(len(talker.log) for talker in people)} stanzas; "
        f"{sum(talker.reloads for talker in people)} programs closed and opened again; "
        f"{sum(talker.failed for talker in people)} answers that the model broke off.",
        "",
        f"Answers begun in the thirds of the run: {', '.join(map(str, done.answers))}.",
        "",
        f"Killed, or cut for 1 to 12 seconds: {broken}.",
        *([f"Links were not cut: {refusal}."] if refusal else []),
        "",
        *(done.wrong or [PROOF]),
        "",
        f"PostgreSQL had {done.before} connections before, and {done.after} after.",
        "",
        *_flatness(done),
        "",
        *_samples(done),
    ]
    return "\n".join(lines) + "\n"


def _flatness(done: soak.Soak) -> list[str]:
    """What was held in the first and in the last third; a run in which it grew has no report."""
    lines = [
        "| median held | first third | last third | growth of long lives, of memory over the run | allowed |",
        "|---|---:|---:|---:|---:|",
    ]
    for what, verdict in done.verdicts().items():
        told = (verdict.first, verdict.last, verdict.growth, verdict.allowed)
        lines.append(f"| {what} | {' | '.join(_amount(what, each) for each in told)} |")
    return lines


def _amount(what: str, value: float | None) -> str:
    if value is None:
        return ""
    return f"{value / 2**20:.0f} MiB" if what.endswith("memory") else f"{value:.0f}"


def _samples(done: soak.Soak) -> list[str]:
    parts = sorted({part for sample in done.samples for part in sample.memory})
    lines = [
        f"| after | {' | '.join(parts)} | connections |",
        f"|---:|{'---:|' * len(parts)}---:|",
    ]
    for sample in done.samples[:: max(1, len(done.samples) // ROWS)]:
        memory = [f"{sample.memory[part] / 2**20:.0f} MiB" if part in sample.memory else "" for part in parts]
        lines.append(f"| {sample.at / 60:.1f} min | {' | '.join(memory)} | {sample.connections} |")
    return lines


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=30.0)
    options.add_argument("--talks", type=int, default=6)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--results", type=Path, default=RESULTS)
    given = options.parse_args()
    refusal = ""
    try:
        links.move_to_own_network()
    except links.Refused as refused:
        refusal = str(refused)
    with TemporaryDirectory(prefix="alicia-soak-") as home:
        done = asyncio.run(soak.run(Path(home), given.minutes * 60, talks=given.talks, seed=given.seed))
    text = report(done, given.minutes, refusal)
    print(text)
    if done.wrong:
        sys.exit("Not all is well:\n" + "\n".join(done.wrong))
    given.results.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
