"""When what is being said is looked at, with a recogniser that only counts."""

import asyncio
import itertools

import numpy as np
import pytest
from livekit import rtc
from livekit.agents import stt

from alicia.speech.listener import Listener
from alicia.speech.recogniser import Heard
from alicia.speech.segments import RATE, WINDOW, Samples

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


@pytest.mark.parametrize(("seconds", "supposed"), [(0.6, ["Look number 1."]), (0.95, [])])
async def test_in_a_pause_the_words_that_are_known_are_supposed_to_be_all(
    seconds: float, supposed: list[str]
) -> None:
    heard = itertools.chain(itertools.repeat(1.0, round(seconds * RATE / WINDOW)), itertools.repeat(0.0))
    recogniser, told = Attentive(), list[str]()
    listener = Listener(recogniser, lambda: lambda _: next(heard))
    listener.supposing = told.append
    stream = listener.stream()
    for _ in range(60):
        stream.push_frame(rtc.AudioFrame(bytes(2 * FRAME), RATE, 1, FRAME))
        await asyncio.sleep(0)
    stream.end_input()
    kinds = [event.type async for event in stream]
    await stream.aclose()

    assert stt.SpeechEventType.PREFLIGHT_TRANSCRIPT in kinds
    assert told == supposed
