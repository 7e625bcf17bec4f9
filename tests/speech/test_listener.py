"""When what is being said is looked at, with a recogniser that only counts."""

import asyncio

import numpy as np
from livekit import rtc
from livekit.agents import stt

from alicia.speech.listener import Listener
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
