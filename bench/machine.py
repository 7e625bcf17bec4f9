"""What a benchmark was run on, and the results that it leaves with a line that says so."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from alicia.local.livekit import VERSION as LIVEKIT
from alicia.local.postgres import programs

ROOT = Path(__file__).parents[1]
MEASURED = "Measured "


def keep(results: Path, text: str) -> None:
    """Write what was measured, with the moment and the machine below its heading."""
    heading, _, rest = text.partition("\n")
    results.parent.mkdir(exist_ok=True)
    results.write_text(f"{heading}\n\n{MEASURED}{described()}\n{rest.rstrip()}\n", "utf-8")


def described() -> str:
    """One sentence: when, at which commit, on what."""
    return f"{datetime.now(UTC):%Y-%m-%d}, at {commit()}, on {machine()}."


def machine() -> str:
    """The machine and the programs that the figures depend on."""
    return ", ".join(
        [
            f"{os.cpu_count()} cores ({_processor()})",
            f"{_memory():.1f} GiB of memory",
            _system(),
            f"Python {platform.python_version()}",
            f"PostgreSQL {_postgres()}",
            f"LiveKit {LIVEKIT}",
        ]
    )


def mebibytes(process: int) -> float:
    """The memory of a process; of pages that it shares with others, its part."""
    rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
    pss = next(line for line in rollup.splitlines() if line.startswith("Pss:"))
    return int(pss.split()[1]) / 1024


def commit() -> str:
    """The commit's short id, marked when the sources differ from it."""
    short = _git("rev-parse", "--short", "HEAD")
    if not short:
        return "an unknown commit"
    return f"commit {short}, changed" if _git("status", "--porcelain", "--", "src") else f"commit {short}"


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return f"{platform.system()} {platform.release()}"


def _postgres() -> str:
    told = subprocess.run([programs() / "postgres", "--version"], capture_output=True, text=True, check=False)
    return told.stdout.strip().rpartition(" ")[2] or "unknown"


def _git(*words: str) -> str:
    told = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return told.stdout.strip()


if __name__ == "__main__":
    print(described())
