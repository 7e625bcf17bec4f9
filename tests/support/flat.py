"""Whether what processes hold stays the same over a run in which they are killed and come back."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

WARM = 25.0
"""Seconds until a process that was just started has all it needs."""
SETTLED = 120.0
"""Seconds until it has met everybody: each conversation, and each model that somebody may want."""
LONG = 180.0
"""Seconds after that in which growth within one process can be told from noise."""
SLACK = 0.25
"""How much more, as a share, the last third of a run may hold than the first."""


@dataclass(frozen=True)
class Point:
    """What one process held at one moment of the run."""

    at: float
    pid: int
    value: float


@dataclass(frozen=True)
class Verdict:
    """`first` and `last` are what is held in the first and last third; `growth` is that of the longest lives,
    over the whole run or, of what grows in steps, over the longest of them."""

    first: float
    last: float
    growth: float | None
    allowed: float

    @property
    def flat(self) -> bool:
        return self.last <= self.allowed and (self.growth is None or self.first + self.growth <= self.allowed)


def judge(
    points: Sequence[Point], seconds: float, margin: float, *, in_steps: bool = False
) -> Verdict | None:
    """Compare the thirds of a run, and within each long life fit a line; None if there is too little to tell.

    A process begins anew whenever its id changes; what it holds while it warms up does not count. What grows
    `in_steps` that have an end, as a pool does until it is full, must not be taken to go on so for the run.
    """
    warm = [point for life in _lives(points) for point in life if point.at - life[0].at >= WARM]
    early = [point.value for point in warm if point.at < seconds / 3]
    late = [point.value for point in warm if point.at >= seconds * 2 / 3]
    if not early or not late:
        return None
    first, last = median(early), median(late)
    settled = [[point for point in life if point.at - life[0].at >= SETTLED] for life in _lives(points)]
    long = [life for life in settled if len(life) >= 3 and life[-1].at - life[0].at >= LONG]
    growth = None
    if long:
        longest = max(life[-1].at - life[0].at for life in long)
        growth = _slope(long) * (longest if in_steps else seconds)
    return Verdict(first, last, growth, first * (1 + SLACK) + margin)


def _lives(points: Sequence[Point]) -> list[list[Point]]:
    lives: list[list[Point]] = [[point] for point in points[:1]]
    for before, point in pairwise(points):
        if point.pid == before.pid:
            lives[-1].append(point)
        else:
            lives.append([point])
    return lives


def _slope(lives: Sequence[Sequence[Point]]) -> float:
    """How much the lives gain in a second, together, each from where it began."""
    above = below = 0.0
    for life in lives:
        at = sum(point.at for point in life) / len(life)
        value = sum(point.value for point in life) / len(life)
        above += sum((point.at - at) * (point.value - value) for point in life)
        below += sum((point.at - at) ** 2 for point in life)
    return above / below
