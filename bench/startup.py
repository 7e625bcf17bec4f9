"""How long `alicia up` takes to be ready, and how much memory the idle stack takes, beside their targets.

    .venv/bin/python bench/startup.py [STARTS]

Memory is PSS from /proc: pages that processes share are counted once. The language model is reported apart.
"""

import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from machine import keep, mebibytes
from scratch import judge, limits

RESULTS = Path(__file__).parent / "results" / "startup.md"
READY_TARGET = 8.0
MEMORY_TARGET = 1.1 * 1024
# Long enough for imports that go on after the ready line, and for the language model to warm up.
SETTLE = 15.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def memory(supervisor: int) -> dict[str, float]:
    """Return the PSS of each kind of process of this stack, in MiB."""
    kinds = {
        "language model": "alicia.local.llm",
        "API": "main api",
        "agent": "main agent",
        "LiveKit": "livekit-server",
        "PostgreSQL": "postgres",
        "supervisor": "main up",
    }
    found: dict[str, float] = {}
    for pid in (supervisor, *descendants(supervisor)):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            size = mebibytes(pid)
        except OSError:
            continue
        kind = next((name for name, word in kinds.items() if word in command), "other")
        found[kind] = found.get(kind, 0.0) + size
    return found


def descendants(pid: int) -> list[int]:
    children = [
        int(word)
        for task in Path(f"/proc/{pid}/task").glob("*/children")
        for word in task.read_text().split()
    ]
    return [*children, *(each for child in children for each in descendants(child))]


def start(home: Path, *, settle: float) -> tuple[float, dict[str, float]]:
    """Start a stack, wait for the ready line, look at its memory after a while, and stop it."""
    environ = {**os.environ, "ALICIA_HOME": str(home), "ALICIA_PORT": str(free_port())}
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "alicia.cli.main", "up"], env=environ, stdout=subprocess.PIPE, text=True
    ) as process:
        for line in process.stdout or ():
            if line.startswith("Alicia is ready"):
                break
        else:
            sys.exit("Alicia did not become ready.")
        seconds = time.perf_counter() - began
        time.sleep(settle)
        taken = memory(process.pid)
        process.send_signal(signal.SIGTERM)
    return seconds, taken


def main() -> None:
    starts = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        first, _ = start(home, settle=0)
        times: list[float] = []
        taken: dict[str, float] = {}
        for number in range(starts):
            seconds, taken = start(home, settle=SETTLE if number == starts - 1 else 0)
            times.append(seconds)
    median = statistics.median(times)
    print(f"{'':<28} {'measured':>10} {'target':>10} {'ratio':>7}")
    print(f"{'ready, first start':<28} {first:>8.1f} s {'':>10}")
    ratio = median / READY_TARGET
    print(f"{f'ready, median of {starts}':<28} {median:>8.1f} s {READY_TARGET:>8.1f} s {ratio:>7.2f}")
    model = taken.pop("language model", 0.0)
    for kind, size in sorted(taken.items(), key=lambda item: -item[1]):
        print(f"{f'idle memory, {kind}':<28} {size:>6.0f} MiB")
    total = sum(taken.values())
    ratio = total / MEMORY_TARGET
    print(f"{'idle memory, all of these':<28} {total:>6.0f} MiB {MEMORY_TARGET:>6.0f} MiB {ratio:>7.2f}")
    print(f"{'language model, apart':<28} {model:>6.0f} MiB")
    targets = [
        (f"ready, median of {starts}", f"{median:.1f} s", f"≤ {READY_TARGET:.0f} s", median <= READY_TARGET),
        ("idle memory", f"{total:.0f} MiB", f"≤ {MEMORY_TARGET:.0f} MiB", total <= MEMORY_TARGET),
    ]
    table = ["| idle memory (PSS) | MiB |", "|---|---:|"]
    table += [
        f"| {kind} | {taken[kind]:.0f} |" for kind in sorted(taken, key=taken.__getitem__, reverse=True)
    ]
    table += [f"| language model, apart | {model:.0f} |", "", f"The first start took {first:.1f} s.", ""]
    keep(RESULTS, "\n".join(["# Starting up", "", "`bench/startup.py`", "", *table, limits(targets)]))
    judge(targets)


if __name__ == "__main__":
    main()
