"""Any recogniser as a stream of texts for LiveKit's AgentSession: while somebody speaks, and afterwards."""

import asyncio
import difflib
import math
import time
from collections.abc import Callable
from typing import Final, Literal

import msgspec
import numpy as np
from livekit import rtc
from livekit.agents import APIConnectOptions, LanguageCode, stt, utils
from livekit.agents.types import DEFAULT_API_CONNECT_OPTIONS, NOT_GIVEN, NotGivenOr

from alicia.errors import ModelUnavailable
from alicia.speech.failure import unavailable
from alicia.speech.recogniser import Heard, Recogniser, credible, words
from alicia.speech.segments import RATE, WINDOW, Edge, Samples, Segmenter
from alicia.telemetry.tracing import span

EVERY: Final = 0.5
"""Seconds of speech between two looks at what is said so far."""

SPARING: Final = 3.0
"""How many times longer than a look takes the next one is put off."""
NO_WORD: Final = 2
"""So many windows of sound hold no word."""
REST: Final = 1.0
LONGEST_REST: Final = 60.0
"""Seconds until a detector of voices that failed is replaced, at first and when it fails again and again."""

Probability = Callable[[Samples], float]


class Listener(stt.STT[Literal["error"]]):
    """Speech-to-text for one AgentSession, which says with `flush` that a turn may be over.

    Until then a pause does not cut what is recognised: models hear whole sentences far better than halves.
    """

    def __init__(
        self,
        recogniser: Recogniser,
        probability: Callable[[], Probability],
        language: Callable[[], str | None] = lambda: None,
    ) -> None:
        capabilities = stt.STTCapabilities(
            streaming=True, interim_results=recogniser.quick, offline_recognize=False, manual_flush=True
        )
        super().__init__(capabilities=capabilities)
        self.recogniser = recogniser
        self.took = 0.0
        """Seconds that the newest text took to be recognised."""
        self.concluding = 0
        """How many pieces of speech have ended of which the words are not known yet."""
        self.faded = False
        """Whether the newest text is of all that was said so far: nothing followed but the voice's fall."""
        self._looks = 0
        self._settled = asyncio.Event()
        self._settled.set()
        self._language = language
        self.probability = probability

    async def recognise(self, samples: Samples) -> Heard:
        began = time.perf_counter()
        self._looks += 1
        self._settled.clear()
        try:
            with span("transcription"):
                heard = await self.recogniser.recognise(samples, self._language())
        finally:
            self._looks -= 1
            if not self._looks:
                self._settled.set()
        self.took = time.perf_counter() - began
        return heard

    @property
    def looking(self) -> bool:
        """Whether words may still come of what was said: a server may take seconds for them."""
        return not self._settled.is_set()

    async def settled(self) -> None:
        """Until no words are being made out."""
        await self._settled.wait()

    @property
    def model(self) -> str:
        return self.recogniser.model

    @property
    def provider(self) -> str:
        return "alicia"

    async def _recognize_impl(
        self,
        buffer: utils.AudioBuffer,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
    ) -> stt.SpeechEvent:
        frame = utils.merge_frames(buffer) if isinstance(buffer, list) else buffer
        heard = await self.recognise(np.frombuffer(frame.data, np.int16))
        return _event(stt.SpeechEventType.FINAL_TRANSCRIPT, heard)

    def stream(
        self,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
    ) -> stt.RecognizeStream:
        return _Stream(self, conn_options)


class _Look(msgspec.Struct, frozen=True):
    """A piece of speech to be recognised, and what for."""

    kind: stt.SpeechEventType
    samples: Samples
    voiced: int
    loud: int

    @property
    def seconds(self) -> float:
        return self.voiced * WINDOW / RATE


class _Stream(stt.RecognizeStream):
    def __init__(self, listener: Listener, conn_options: APIConnectOptions) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            stt=listener, conn_options=conn_options, sample_rate=RATE
        )
        self._listener = listener
        self._looks: asyncio.Queue[_Look] = asyncio.Queue()
        self._looked = 0
        self._voiced = 0
        self._loud = self._faint = 0
        self._last: tuple[int, Heard] | None = None
        """The newest text for the segment, and how much speech it covers."""

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            recognising = tasks.create_task(self._recognise_all())
            await self._listen()
            await self._looks.join()
            recognising.cancel()

    async def _listen(self) -> None:
        """Follow what is said; while there is nothing that tells voices from silence, it is lost."""
        segmenter: Segmenter | None = None
        rest, deaf_until = REST, -math.inf
        async for item in self._input_ch:
            if time.monotonic() < deaf_until:
                continue
            try:
                with unavailable("No voice can be told from silence", "restart the agent if that goes on"):
                    segmenter = segmenter or Segmenter(self._listener.probability())
                    self._follow(item, segmenter)
            except ModelUnavailable as error:
                if segmenter is not None and segmenter.speaking:
                    self._end(segmenter)
                segmenter, now = None, time.monotonic()
                rest = REST if now - deaf_until > rest else min(2 * rest, LONGEST_REST)
                deaf_until = now + rest
                self._emit_error(error, recoverable=True)

    def _follow(self, item: object, segmenter: Segmenter) -> None:
        """Take in a piece of sound, or that a turn may be over."""
        if isinstance(item, rtc.AudioFrame):
            for edge in segmenter.feed(np.frombuffer(item.data, np.int16)):
                self._heed(edge, segmenter)
            self._glance(segmenter)
        elif segmenter.speaking:
            self._end(segmenter)

    def _heed(self, edge: Edge, segmenter: Segmenter) -> None:
        match edge:
            case Edge.BEGUN:
                self._looked = 0
            case Edge.PAUSED if self._listener.recogniser.quick:
                self._look(stt.SpeechEventType.PREFLIGHT_TRANSCRIPT, segmenter.segment, segmenter)
            case Edge.ENDED:
                self._end(segmenter)
            case _:
                pass

    def _glance(self, segmenter: Segmenter) -> None:
        self._voiced, self._loud, self._faint = segmenter.voiced, segmenter.loud, segmenter.faint
        recogniser = self._listener.recogniser
        # A busy machine is left to those who have finished and wait for their answer.
        due = self._looked + max(EVERY, SPARING * self._listener.took) * RATE / WINDOW
        if recogniser.quick and not recogniser.busy and segmenter.speaking and segmenter.voiced >= due:
            self._look(stt.SpeechEventType.INTERIM_TRANSCRIPT, segmenter.segment, segmenter)

    def _end(self, segmenter: Segmenter) -> None:
        self._listener.concluding += 1
        self._look(stt.SpeechEventType.FINAL_TRANSCRIPT, segmenter.take(), segmenter)

    def _look(self, kind: stt.SpeechEventType, samples: Samples, segmenter: Segmenter) -> None:
        self._looked = segmenter.voiced
        self._looks.put_nowait(_Look(kind, samples, segmenter.voiced, segmenter.loud))

    async def _recognise_all(self) -> None:
        while True:
            look = await self._looks.get()
            final = look.kind is stt.SpeechEventType.FINAL_TRANSCRIPT
            # A model that falls behind need not look at what is out of date.
            if final or self._looks.empty():
                try:
                    await self._recognise(look)
                except ModelUnavailable as error:
                    self._emit_error(error, recoverable=True)
            if final:
                self._last = None
            self._looks.task_done()

    async def _recognise(self, look: _Look) -> None:
        try:
            heard = await self._heard(look)
        finally:
            if look.kind is stt.SpeechEventType.FINAL_TRANSCRIPT:
                self._listener.concluding -= 1
        if not credible(heard.text, look.seconds):
            heard = Heard("", heard.confidence, heard.language)
        kind = look.kind
        if kind is stt.SpeechEventType.PREFLIGHT_TRANSCRIPT and self._voiced > look.voiced + NO_WORD:
            # The pause is over: this was not all.
            kind = stt.SpeechEventType.INTERIM_TRANSCRIPT
        self._listener.faded = self._loud - look.loud <= NO_WORD <= self._faint
        self._event_ch.send_nowait(_event(kind, heard))

    async def _heard(self, look: _Look) -> Heard:
        # No word was said since the last pause, so nothing is to be recognised again.
        if self._last is not None and look.voiced - self._last[0] <= NO_WORD:
            return self._last[1]
        heard = await self._listener.recognise(look.samples)
        if heard.confidence is None and self._last is not None:
            heard = msgspec.structs.replace(heard, confidence=agreement(self._last[1].text, heard.text))
        self._last = look.voiced, heard
        return heard


def _event(kind: stt.SpeechEventType, heard: Heard) -> stt.SpeechEvent:
    data = stt.SpeechData(
        language=LanguageCode(heard.language or ""), text=heard.text, confidence=heard.confidence or 0.0
    )
    return stt.SpeechEvent(type=kind, alternatives=[data])


def agreement(earlier: str, text: str) -> float | None:
    """How much of the text for the beginning of some speech stands in the later one, from 0 to 1.

    For models that tell no confidence: what they heard twice they rarely heard wrong.
    """
    before, after = words(earlier), words(text)
    if not before or not after:
        return None
    # The last word of unfinished speech is half heard.
    before = before[:-1] or before
    blocks = difflib.SequenceMatcher(None, before, after[: len(before) + 1]).get_matching_blocks()
    return round(sum(block.size for block in blocks) / len(before), 2)
