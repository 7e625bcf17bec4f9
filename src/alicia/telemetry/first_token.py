"""When the model's first token came: noted with whatever of the answer is stored first after it."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

CAME: Final = "firstTokenAt"
TOOK: Final = "firstTokenMs"


class FirstToken:
    """Of one answer. `ask` whenever the model is asked, `come` at each token; `meta` tells it once."""

    def __init__(self) -> None:
        self._asked: datetime | None = None
        self._came: datetime | None = None

    def ask(self) -> None:
        """The model begins, or goes on with what its tools gave."""
        self._asked, self._came = datetime.now(UTC), None

    def come(self) -> None:
        """A token came; only the first counts."""
        if self._came is None:
            self._came = datetime.now(UTC)

    def meta(self) -> dict[str, Any] | None:
        """What the next envelope carries of it; None when there is nothing new."""
        if self._asked is None or self._came is None:
            return None
        asked, self._asked = self._asked, None
        return {CAME: self._came.isoformat(), TOOK: round((self._came - asked) / timedelta(milliseconds=1))}
