"""Finds where speech begins, pauses and ends in a stream of samples."""

from collections import deque
from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

RATE: Final = 16_000
"""Samples a second, everywhere that speech is listened to."""
WINDOW: Final = 512
"""Samples that are judged at once: 32 ms."""

_BEGINS: Final = 0.5
_GOES_ON: Final = 0.35
"""Speech that has begun is given the benefit of the doubt."""
_SMOOTHING: Final = 0.35
"""The share of a new window in the likelihood: a crackle alone neither begins speech nor keeps it up."""
_ONSET: Final = 1
_PADDING: Final = 12
"""Windows before the onset that belong to a segment: consonants are quieter than what follows."""
_PAUSE: Final = 3
_END: Final = 50
_LONG: Final = RATE * 15 // WINDOW
"""After so many windows the shortest pause ends a segment: models lose their way in long ones."""
_LONGEST: Final = RATE * 24 // WINDOW
FAINT: Final = 0.08
"""Sound below this share of the loudest is no word, but at most the fall of a voice."""

Samples: TypeAlias = NDArray[np.int16]


class Edge(Enum):
    """What has just happened."""

    BEGUN = auto()
    PAUSED = auto()
    """Not a sound for 96 ms: the segment may be whole."""
    ENDED = auto()
    """Not a sound for 1.6 s, or too long: take the segment with `take`."""


class Segmenter:
    """Cuts speech into segments. `probability` tells how likely a window of samples is speech."""

    def __init__(self, probability: Callable[[Samples], float]) -> None:
        self._probability = probability
        self._rest: Samples = np.zeros(0, np.int16)
        self._before: deque[Samples] = deque(maxlen=_PADDING + _ONSET)
        self._windows: list[Samples] = []
        self._likely = 0.0
        self._onset = 0
        self._silent = 0
        self.speaking = False
        self.voiced = 0
        """How many windows of the segment were speech."""
        self.loud = 0
        """How many of its windows were not faint."""
        self.faint = 0
        """How many windows have been faint since the last that was not."""
        self._loudest = 0

    @property
    def seconds(self) -> float:
        """How long there was speech in the segment, pauses left out."""
        return self.voiced * WINDOW / RATE

    @property
    def segment(self) -> Samples:
        """The samples of the segment so far."""
        return np.concatenate(self._windows) if self._windows else np.zeros(0, np.int16)

    def take(self) -> Samples:
        """End the segment here, and give it."""
        segment = self.segment
        self._windows = []
        self.speaking, self._onset = False, 0
        return segment

    def feed(self, samples: Samples) -> Iterator[Edge]:
        """Take samples in; what is yielded is true at that moment, so look before going on."""
        self._rest = np.concatenate([self._rest, samples])
        while len(self._rest) >= WINDOW:
            window, self._rest = self._rest[:WINDOW], self._rest[WINDOW:]
            edge = self._judge(window)
            if edge is not None:
                yield edge

    def _judge(self, window: Samples) -> Edge | None:
        self._likely += _SMOOTHING * (self._probability(window) - self._likely)
        return self._inside(window) if self.speaking else self._outside(window)

    def _outside(self, window: Samples) -> Edge | None:
        self._before.append(window)
        self._onset = self._onset + 1 if self._likely >= _BEGINS else 0
        if self._onset < _ONSET:
            return None
        self.speaking, self.voiced, self._silent = True, _ONSET, 0
        self.loud = self.faint = self._loudest = 0
        self._windows = list(self._before)
        self._before.clear()
        return Edge.BEGUN

    def _inside(self, window: Samples) -> Edge | None:
        self._windows.append(window)
        self._weigh(int(np.abs(window.astype(np.int32)).max()))
        if self._likely >= _GOES_ON:
            self.voiced += 1
            self._silent = 0
        else:
            self._silent += 1
        length = len(self._windows)
        if self._silent >= _END or length >= _LONGEST or (length >= _LONG and self._silent):
            return Edge.ENDED
        return Edge.PAUSED if self._silent == _PAUSE else None

    def _weigh(self, level: int) -> None:
        self._loudest = max(self._loudest, level)
        if level > FAINT * self._loudest:
            self.loud, self.faint = self.loud + 1, 0
        else:
            self.faint += 1
