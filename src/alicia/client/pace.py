"""When to try again: pauses that double up to a limit, with some chance in them."""

import random


class Pace:
    """Counts attempts at one thing; `at` is the time of the next one, on the caller's clock."""

    def __init__(self, first: float, longest: float) -> None:
        self._first, self._longest = first, longest
        self._pause = first
        self.at: float | None = None

    def start(self, now: float) -> None:
        """Try at once, and begin again with the shortest pause."""
        self._pause = self._first
        self.at = now

    def wait(self, now: float) -> None:
        """Try after a pause, and after a longer one next time."""
        # Many clients that lost the same server must not come back all at once.
        self.at = now + self._pause * random.uniform(0.8, 1.2)  # noqa: S311
        self._pause = min(self._pause * 2, self._longest)

    def stop(self) -> None:
        """It is done: no more attempts."""
        self._pause = self._first
        self.at = None

    def due(self, now: float) -> bool:
        return self.at is not None and now >= self.at
