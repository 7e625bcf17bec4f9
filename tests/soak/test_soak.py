"""A minute of what `make soak` does for half an hour."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.flat import Point, judge
from support.soak import CUTS, PARTS

pytestmark = [pytest.mark.timeout(500), pytest.mark.xdist_group("soak")]

ROOT = Path(__file__).parents[2]


def test_conversations_go_on_for_a_minute_while_everything_breaks_and_nothing_is_lost(tmp_path: Path) -> None:
    results = tmp_path / "soak.md"
    done = subprocess.run(
        [sys.executable, "scripts/soak.py", "--minutes=1", "--talks=3", f"--results={results}"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": "tests:bench"},
        capture_output=True,
        text=True,
        timeout=480,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = results.read_text()
    answers = re.search(r"in the thirds of the run: (\d+), (\d+), (\d+)", told)
    assert answers
    assert sum(map(int, answers.groups())) > 0
    # Each fault comes once before any comes again, as far as the machine's speed lets them come at all.
    faults = ", ".join(line for line in told.splitlines() if line.startswith("Killed"))
    assert sum(f"{fault} " in faults for fault in (*PARTS, "Model", *CUTS)) >= 4


def held(*lives: list[float], every: float = 10.0) -> list[Point]:
    """One process after the other, seen every so many seconds."""
    values = [(pid, value) for pid, life in enumerate(lives) for value in life]
    return [Point(number * every, pid, value) for number, (pid, value) in enumerate(values)]


def test_what_grows_again_after_each_restart_is_flat() -> None:
    life = [50.0, 80.0, 100.0, 100.0, 101.0, 99.0]
    verdict = judge(held(life, life, life, life, life, life), 360, margin=1)
    assert verdict
    assert verdict.flat


def test_what_holds_more_and_more_is_not_flat() -> None:
    lives = [[100.0 + 20 * life] * 6 for life in range(6)]
    verdict = judge(held(*lives), 360, margin=1)
    assert verdict
    assert not verdict.flat


def test_what_grows_within_one_long_life_is_not_flat_though_it_was_restarted() -> None:
    growing = [100.0 + number for number in range(36)]
    verdict = judge(held(growing, growing), 720, margin=1)
    assert verdict
    assert verdict.last == pytest.approx(verdict.first, rel=0.2)
    assert not verdict.flat


def test_what_grows_only_until_everybody_was_met_is_flat() -> None:
    settling = [100.0 + 8 * min(number, 12) for number in range(36)]
    verdict = judge(held(settling, settling), 720, margin=1)
    assert verdict
    assert verdict.growth == pytest.approx(0, abs=1)
    assert verdict.flat


def test_what_grows_in_steps_that_end_is_flat_but_not_what_goes_on() -> None:
    steps = [10.0] * 20 + [14.0] * 16
    for life, flat in ((steps, True), ([10.0 + number for number in range(36)], False)):
        verdict = judge(held(life, life, life), 1080, margin=4, in_steps=True)
        assert verdict
        assert verdict.flat == flat


def test_too_little_tells_nothing() -> None:
    assert judge([], 60, margin=1) is None
