"""When what is being said is looked at, with a recogniser that only counts, and when nothing is heard."""

import asyncio
from collections.abc import Callable

import numpy as np
import pytest
from livekit import rtc
from livekit.agents import stt

from alicia.errors import ModelUnavailable
from alicia.speech.listener import Listener, Probability
from alicia.speech.recogniser import Heard
from alicia.speech.segments import RATE, Samples

FRAME = RATE // 50


class Attentive:
    """Notes how much it was shown."""

    model = "attentive"
    quick = True
    busy = False

    def __init__(self) -> None:
        self.shown: list[float] = []

    async def recognise(self, samples: Samples, language: str | None = None) -> Heard:
        self.shown.append(len(samples) / RATE)
        return Heard(f"Look number {len(self.shown)}.")


class Detector:
    """Takes everything for a voice, after it could not be made and has failed in mid-speech."""

    def __init__(self) -> None:
        self.made = 0
        self._windows = 0

    def __call__(self) -> Probability:
        self.made += 1
        if self.made == 1:
            raise OSError("no model")
        return self._probability

    def _probability(self, _: Samples) -> float:
        self._windows += 1
        if self._windows == 10:
            raise RuntimeError("out of memory")
        return 1.0


async def second(
    detector: Callable[[], Probability],
) -> tuple[list[stt.STTError], list[stt.SpeechEventType]]:
    """What is told of a second of sound, and what is heard in it."""
    recogniser, told = Attentive(), list[stt.STTError]()
    recogniser.quick = False
    listener = Listener(recogniser, detector)
    listener.on("error", told.append)  # pyright: ignore[reportUnknownMemberType]
    stream = listener.stream()
    for _ in range(50):
        stream.push_frame(rtc.AudioFrame(bytes(2 * FRAME), RATE, 1, FRAME))
    stream.end_input()
    heard = [event.type async for event in stream]
    await stream.aclose()
    return told, heard


async def test_a_detector_that_fails_is_told_of_and_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alicia.speech.listener.REST", 0.0)
    detector = Detector()
    told, heard = await second(detector)

    assert [(type(each.error), each.recoverable) for each in told] == [(ModelUnavailable, True)] * 2
    assert detector.made == 3
    assert heard == [stt.SpeechEventType.FINAL_TRANSCRIPT] * 2


async def test_who_cannot_be_heard_is_not_told_so_with_every_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alicia.speech.listener.REST", 60.0)

    def broken() -> Probability:
        raise OSError("no model")

    told, heard = await second(broken)

    assert len(told) == 1
    assert not heard


class Slow(Attentive):
    """Knows what it was shown when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.shown_first = asyncio.Event()
        self.known = asyncio.Event()

    async def recognise(self, samples: Samples, language: str | None = None) -> Heard:
        self.shown_first.set()
        await self.known.wait()
        return await super().recognise(samples, language)


@pytest.mark.parametrize(
    ("after", "faded"),
    [([200] * 10, True), ([3000] * 8 + [200] * 10, False), ([], False)],
    ids=["fall", "word", "voice"],
)
async def test_text_is_of_all_that_was_said_if_only_the_fall_of_the_voice_follows(
    after: list[int], faded: bool
) -> None:
    recogniser = Slow()
    listener = Listener(recogniser, lambda: lambda _: 1.0)
    stream = listener.stream()

    async def hear(level: int) -> None:
        sound = np.full(FRAME, level, np.int16).tobytes()
        stream.push_frame(rtc.AudioFrame(sound, RATE, 1, FRAME))
        for _ in range(10):
            # Until it is taken in.
            await asyncio.sleep(0)

    while not recogniser.shown_first.is_set():
        await hear(3000)
    for level in after:
        await hear(level)
    recogniser.known.set()
    first = await anext(stream)
    assert (first.type, listener.faded) == (stt.SpeechEventType.INTERIM_TRANSCRIPT, faded)
    await stream.aclose()


async def test_who_speaks_without_a_pause_is_shown_new_text_at_least_every_700_ms() -> None:
    recogniser = Attentive()
    stream = Listener(recogniser, lambda: lambda _: 1.0).stream()
    for _ in range(8 * 50):
        stream.push_frame(rtc.AudioFrame(bytes(2 * FRAME), RATE, 1, FRAME))
        await asyncio.sleep(0)
    stream.end_input()
    *interims, final = [event async for event in stream]
    await stream.aclose()

    assert {each.type for each in interims} == {stt.SpeechEventType.INTERIM_TRANSCRIPT}
    assert final.type is stt.SpeechEventType.FINAL_TRANSCRIPT
    assert len(interims) + 1 == len(recogniser.shown)
    assert np.diff([0.0, *recogniser.shown]).max() <= 0.7
