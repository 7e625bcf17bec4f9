"""`make soak`: conversations for half an hour while parts are killed, and the proof that nothing was lost.

Writes bench/results/soak.md. Run with `tests` on PYTHONPATH.
"""

import argparse
import asyncio
import os
import platform
from pathlib import Path
from tempfile import TemporaryDirectory

from support import soak

RESULTS = Path(__file__).parents[1] / "bench" / "results" / "soak.md"


def report(done: soak.Soak, minutes: float) -> str:
    asked = sum(len(talker.asked) for talker in done.talkers)
    reloads = sum(talker.reloads for talker in done.talkers)
    failed = sum(talker.failed for talker in done.talkers)
    stanzas = sum(len(talker.log) for talker in done.talkers)
    spoken = sum(len(talker.clips) for talker in done.talkers)
    killed = ", ".join(f"{part} {count}" for part, count in sorted(done.kills.items()))
    parts = sorted({part for sample in done.samples for part in sample.memory})
    lines = [
        "# Soak",
        "",
        f"`make soak`: {minutes:g} minutes on {os.cpu_count()} cores, {platform.machine()}, Python "
        f"{platform.python_version()}.",
        "",
        f"{len(done.talkers)} conversations, {asked} questions in writing and {spoken} spoken, {stanzas} "
        f"stanzas, {reloads} programs closed and opened again, {failed} answers that the model broke off. "
        f"Killed: {killed}.",
        "",
        "Every client's log was the journal, byte for byte; every question was stored once and had one whole "
        "answer; nothing was left unfinished.",
        "",
        f"| after | {' | '.join(parts)} | connections |",
        f"|---:|{'---:|' * len(parts)}---:|",
    ]
    for sample in done.samples:
        memory = [f"{sample.memory[part] / 2**20:.0f} MiB" if part in sample.memory else "" for part in parts]
        lines.append(f"| {sample.at / 60:.1f} min | {' | '.join(memory)} | {sample.connections} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=30.0)
    options.add_argument("--talks", type=int, default=6)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    with TemporaryDirectory(prefix="alicia-soak-") as home:
        done = asyncio.run(soak.run(Path(home), given.minutes * 60, talks=given.talks, seed=given.seed))
    text = report(done, given.minutes)
    print(text)
    RESULTS.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
