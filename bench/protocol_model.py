"""The model of two clients, an agent and a bad network, for ten times as many random steps as in the tests.

    .venv/bin/python bench/protocol_model.py [STEPS]

The network drops, delays, repeats and cuts, and the agent crashes; both clients must end with its log.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from machine import keep
from scratch import judge, limits

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results" / "protocol_model.md"
STEPS = 100_000
LONGEST = 1_080
"""Seconds for the whole of it."""


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else STEPS
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", f"--timeout={LONGEST}", "tests/protocol/test_model.py"],
        cwd=ROOT,
        env=os.environ | {"ALICIA_MODEL_STEPS": str(steps)},
        check=False,
    )
    took = time.monotonic() - began
    held = done.returncode == 0
    targets = [
        (
            f"after {steps:,} random steps both clients hold the agent's log",
            "yes" if held else "no",
            "yes",
            held,
        )
    ]
    text = f"# The protocol on a bad network\n\n`bench/protocol_model.py`, {took:.0f} s\n\n{limits(targets)}"
    keep(RESULTS, text)
    judge(targets)


if __name__ == "__main__":
    main()
