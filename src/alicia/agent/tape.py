"""What a microphone picks up while somebody speaks."""

from collections import deque
from typing import Final

from alicia.speech.sound import Recorder

RATE: Final = 24_000
"""Samples a second that microphones are heard and kept with: LiveKit's own, which its turn detector fits."""
BEFORE: Final = 0.6
"""Seconds before speech was noticed that belong to it."""


class Tape:
    """Always holds the last moments; from `start` to `take` all that comes, compressed at once."""

    def __init__(self) -> None:
        self._before: deque[bytes] = deque()
        self._held = 0
        self._recorder: Recorder | None = None

    def write(self, pcm: bytes) -> None:
        """Samples of 16 bits."""
        if self._recorder is not None:
            self._recorder.write(pcm)
            return
        self._before.append(pcm)
        self._held += len(pcm)
        while self._held > 2 * RATE * BEFORE:
            self._held -= len(self._before.popleft())

    def start(self) -> None:
        """Somebody has begun to speak; does nothing while it runs already."""
        if self._recorder is None:
            self._recorder = Recorder(RATE)
            for pcm in self._before:
                self._recorder.write(pcm)
            self.rewind_before()

    def take(self) -> tuple[bytes, int]:
        """The recording and its length in milliseconds; nothing when nothing was said."""
        recorder, self._recorder = self._recorder, None
        return (recorder.close(), recorder.duration_ms) if recorder is not None else (b"", 0)

    def rewind_before(self) -> None:
        self._before.clear()
        self._held = 0
