"""The model for the ends of turns, given the moment that it can judge however late it is asked."""

import asyncio

import numpy as np
import pytest
from livekit import rtc
from livekit.agents import LanguageCode

from alicia.speech.segments import RATE, Samples
from alicia.speech.turn_sound import AFTER, JUDGED, TurnDetector, until_silence
from support.speech import recorded


def loud(seconds: float) -> Samples:
    return np.full(round(seconds * RATE), 5000, np.int16)


def faint(seconds: float) -> Samples:
    return np.full(round(seconds * RATE), -300, np.int16)


@pytest.mark.parametrize("late", [0.2, 0.5, 0.8])
def test_of_a_silence_only_the_beginning_is_judged(late: float) -> None:
    given = until_silence(np.concatenate([loud(1.2), faint(late)]))
    assert len(given) == JUDGED
    assert int((given == -300).sum()) == AFTER


@pytest.mark.parametrize(
    "sound", [loud(2), faint(2), np.zeros(2 * RATE, np.int16)], ids=["loud", "faint", "none"]
)
def test_where_no_voice_falls_silent_the_newest_sound_is_judged(sound: Samples) -> None:
    assert np.array_equal(until_silence(sound), sound[-JUDGED:])


def test_what_is_too_short_to_be_judged_whole_is_taken_as_it_is() -> None:
    assert len(until_silence(np.zeros(0, np.int16))) == 0
    assert len(until_silence(loud(0.5))) == RATE // 2


@pytest.mark.parametrize("late", [0.2, 0.6, 1.0])
async def test_a_sentence_has_ended_however_late_the_model_is_asked(late: float) -> None:
    detector = TurnDetector()
    stream = detector.stream()
    try:
        sound = recorded(4.7, 6.65) + bytes(2 * round(late * RATE))
        for start in range(0, len(sound), RATE // 10):
            piece = sound[start : start + RATE // 10]
            stream.push_audio(rtc.AudioFrame(piece, RATE, 1, len(piece) // 2))
            # Until it is taken in.
            await asyncio.sleep(0)
        threshold = await detector.unlikely_threshold(LanguageCode("en"))
        assert threshold is not None
        assert (await stream.predict()).end_of_turn_probability > threshold
    finally:
        await stream.aclose()
