"""`make bench`: every benchmark, one after the other, then the report.

    .venv/bin/python bench/run_all.py [NAME …]

Each may take so long as bench/catalogue.py says. One that fails, or misses a limit, does not keep the others
from running; it is named in the end. What each prints goes to bench/out/NAME.log.
"""

import os
import signal
import subprocess
import sys
import time

from catalogue import BENCH, BENCHMARKS, Benchmark
from report import main as report


def run(benchmark: Benchmark) -> str:
    """How it ended, in a word or two."""
    log = BENCH / "out" / f"{benchmark.name}.log"
    log.parent.mkdir(exist_ok=True)
    command = [sys.executable, str(benchmark.script), *benchmark.arguments]
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command, cwd=BENCH.parent, stdout=output, stderr=output, start_new_session=True
        ) as process,
    ):
        try:
            code = process.wait(benchmark.minutes * 60)
        except subprocess.TimeoutExpired:
            _end(process)
            return f"cut short after {benchmark.minutes:g} minutes"
        except KeyboardInterrupt:
            _end(process)
            raise
    return "done" if code == 0 else f"missed a limit, or failed: see {log.relative_to(BENCH.parent)}"


def _end(process: "subprocess.Popen[bytes]") -> None:
    """With all that it started, which has its session."""
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)


def main() -> None:
    wanted = [each for each in BENCHMARKS if each.name in sys.argv[1:] or len(sys.argv) == 1]
    unknown = set(sys.argv[1:]) - {each.name for each in wanted}
    if unknown:
        sys.exit(f"There is no benchmark {', '.join(sorted(unknown))}.")
    failed: list[str] = []
    for number, benchmark in enumerate(wanted, 1):
        place = f"[{number}/{len(wanted)}] {benchmark.name}"
        print(f"{place}: at most {benchmark.minutes:g} minutes …", flush=True)
        began = time.monotonic()
        ended = run(benchmark)
        print(f"{place}: {ended}, {time.monotonic() - began:.0f} s", flush=True)
        if ended != "done":
            failed.append(f"{benchmark.name}: {ended}")
    report()
    if failed:
        sys.exit("Not all is well:\n" + "\n".join(failed))


if __name__ == "__main__":
    main()
