"""How much anybody may ask for: so much at once, so much in the long run. The clock is the caller's."""

from collections.abc import Hashable


class Buckets:
    """A token bucket for each key: `burst` at once, `rate` a second in the long run."""

    MOST = 10_000
    """So many keys are kept before full ones are forgotten."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate, self._burst = rate, burst
        self._left: dict[Hashable, tuple[float, float]] = {}

    def take(self, key: Hashable, now: float, count: int = 1) -> float:
        """Take so many; 0 if they were there, or else nothing is taken and these are the seconds to wait."""
        left, at = self._left.get(key, (float(self._burst), now))
        left = min(self._burst, left + (now - at) * self._rate)
        if left < count:
            return (count - left) / self._rate
        self._left[key] = (left - count, now)
        if len(self._left) > self.MOST:
            self._forget(now)
        return 0.0

    def _forget(self, now: float) -> None:
        """Buckets that are full again need not be kept."""
        full_after = self._burst / self._rate
        self._left = {key: pair for key, pair in self._left.items() if now - pair[1] < full_after}
