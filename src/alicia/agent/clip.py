"""A sentence's sound while it is made and played."""

import asyncio
from datetime import UTC, datetime
from typing import Final

import numpy as np

from alicia.protocol.messages import AssistantSentence
from alicia.protocol.values import Map
from alicia.speech.sound import Recorder
from alicia.speech.synthesiser import RATE, Manner
from alicia.telemetry.tracing import Span

FRAME: Final = RATE // 50
"""Samples that are handed to LiveKit at once: 20 ms."""
SPEECH_RATE: Final = 15.0
"""Characters a second, for a sentence whose length is not known yet."""
QUIET: Final = 250
"""The loudest sample that nobody hears."""
LEAD: Final = RATE * 5 // 1000
"""Samples of silence that stay before the first word."""
LONGEST_LEAD: Final = RATE * 300 // 1000
"""Samples that are looked through for the first word; after so much silence the sound goes out as it is."""


class Clip:
    """Sound comes in with `add` and goes out by `frame`, from `offset` on.

    A clip that opens an answer loses the silence before its first word: somebody waits for that. Between
    sentences it is the pause that belongs there.
    """

    def __init__(
        self,
        sentence: AssistantSentence,
        text: str,
        manner: Manner,
        said_in: Span | None = None,
        *,
        opens: bool = False,
    ) -> None:
        self.sentence = sentence
        self.said_in = said_in
        self.text = text
        self.manner = manner
        self.wanted_at = datetime.now(UTC)
        self.sounded_at: datetime | None = None
        self.offset = 0
        """The first sample that is still to be played."""
        self.dropped = False
        self.heard = False
        """Some of it has sounded."""
        self._sound = bytearray()
        self._leading = opens
        """Nothing but silence has come so far, and the rest of it is to be left out."""
        self._ended = asyncio.Event()
        self._more = asyncio.Event()

    def add(self, sound: bytes) -> None:
        self._sound += sound
        if self._leading:
            self._cut_lead()
        self._more.set()

    def _cut_lead(self) -> None:
        samples = np.frombuffer(bytes(self._sound[: len(self._sound) // 2 * 2]), np.int16)[:LONGEST_LEAD]
        (audible,) = np.nonzero((samples > QUIET) | (samples < -QUIET))
        if not len(audible) and len(samples) < LONGEST_LEAD:
            return
        self._leading = False
        silence = int(audible[0]) if len(audible) else LONGEST_LEAD
        del self._sound[: 2 * max(0, silence - LEAD)]

    def end(self) -> None:
        """There is no more."""
        self._ended.set()
        self._more.set()

    def drop(self) -> None:
        """Nobody will hear the rest."""
        self.dropped = True
        self.end()

    async def frame(self) -> bytes | None:
        """The next 20 ms, as soon as there are so many, the last filled up with silence; None at the end."""
        while not self._ended.is_set() and (self._leading or len(self._sound) < 2 * (self.offset + FRAME)):
            self._more.clear()
            await self._more.wait()
        piece = bytes(self._sound[2 * self.offset : 2 * (self.offset + FRAME)])
        return piece.ljust(2 * FRAME, b"\0") if piece and not self.dropped else None

    def characters(self, samples: int) -> int:
        """How many characters of the sentence so much of the sound has said, cut at a word."""
        whole = self.sentence.text
        length = len(self._sound) // 2
        if not self._ended.is_set():
            length = max(length, round(len(whole) / SPEECH_RATE * RATE))
        if samples >= length:
            return len(whole)
        reached = len(whole) * samples // length if length else 0
        return len(whole[:reached].rpartition(" ")[0].rstrip())

    def times(self) -> Map:
        """When it was wanted, and when the first of it was on its way to the listeners."""
        told = {"wantedAt": self.wanted_at, "soundedAt": self.sounded_at}
        return {name: at.isoformat() for name, at in told.items() if at is not None}

    async def recording(self) -> tuple[bytes, int]:
        """All of the sound as it is kept, and its length in milliseconds; waits until all is made."""
        await self._ended.wait()
        return await asyncio.to_thread(self._record)

    def _record(self) -> tuple[bytes, int]:
        if not self._sound:
            return b"", 0
        recorder = Recorder(RATE)
        recorder.write(bytes(self._sound))
        return recorder.close(), recorder.duration_ms
