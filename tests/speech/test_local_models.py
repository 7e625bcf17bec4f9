"""The local models on each other: what one says the other understands, and noise is nothing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import numpy as np
import pytest
from livekit import rtc
from livekit.agents import stt

from alicia.errors import ModelUnavailable
from alicia.speech.activity import Activity
from alicia.speech.hibari import Hibari
from alicia.speech.listener import Listener
from alicia.speech.moonshine import Moonshine
from alicia.speech.recogniser import Heard
from alicia.speech.segments import RATE, Samples
from alicia.speech.sound import decode, wav
from alicia.speech.synthesiser import Manner
from support.speech import AGE_OF_WISDOM, age_of_wisdom, word_errors

MODELS_RATE = 24_000
SENTENCES = [
    "The tallest mountain in the world is Mount Everest.",
    "Please remind me to water the plants tomorrow.",
    "It is raining in London, but the sun shines here.",
]


@pytest.fixture
async def moonshine() -> AsyncIterator[Moonshine]:
    async with aclosing(Moonshine()) as model:
        yield model


@pytest.fixture
async def hibari() -> AsyncIterator[Hibari]:
    async with aclosing(Hibari()) as model:
        yield model


async def said(hibari: Hibari, text: str, manner: Manner | None = None) -> Samples:
    sound = b"".join([piece async for piece in hibari.speak(text, manner or Manner())])
    return decode(wav(sound, MODELS_RATE))


async def test_what_one_says_the_other_understands(moonshine: Moonshine, hibari: Hibari) -> None:
    for sentence in SENTENCES:
        heard = await moonshine.recognise(await said(hibari, sentence))
        assert word_errors(sentence, heard.text) <= 0.1
        assert heard.language == "en"


async def test_speed_changes_how_long_it_takes(hibari: Hibari) -> None:
    slow, fast = [len(await said(hibari, SENTENCES[0], Manner(speed=speed))) for speed in (0.7, 1.6)]
    assert slow > 1.6 * fast


def frames(samples: Samples) -> list[rtc.AudioFrame]:
    data = samples.tobytes()
    return [
        rtc.AudioFrame(data[i : i + 640].ljust(640, b"\0"), RATE, 1, 320) for i in range(0, len(data), 640)
    ]


async def recognised(listener: Listener, samples: Samples) -> list[stt.SpeechEvent]:
    """All that a listener makes of this sound."""
    stream = listener.stream()
    for frame in frames(samples):
        stream.push_frame(frame)
        await asyncio.sleep(0)
    stream.end_input()
    events = [event async for event in stream]
    await stream.aclose()
    return events


def silence(seconds: float) -> Samples:
    return np.zeros(round(seconds * RATE), np.int16)


async def test_speech_is_told_while_it_comes_and_once_when_it_has(moonshine: Moonshine) -> None:
    speech = np.frombuffer(age_of_wisdom(), np.int16)
    events = await recognised(
        Listener(moonshine, Activity), np.concatenate([silence(0.5), speech, silence(1)])
    )
    finals = [each for each in events if each.type == stt.SpeechEventType.FINAL_TRANSCRIPT]
    assert len(events) > len(finals) == 1
    assert word_errors(AGE_OF_WISDOM, finals[0].alternatives[0].text) <= 0.1
    assert finals[0].alternatives[0].confidence > 0.5


async def test_noise_says_nothing(moonshine: Moonshine) -> None:
    noise = np.random.default_rng(1).normal(0, 1500, 3 * RATE).astype(np.int16)
    events = await recognised(Listener(moonshine, Activity), np.concatenate([noise, silence(2)]))
    assert not any(each.alternatives[0].text for each in events)


async def test_a_recogniser_that_fails_once_is_asked_again_for_the_next_words() -> None:
    class Forgetful:
        model = "forgetful"
        quick = False
        busy = False
        asked = 0

        async def recognise(self, samples: Samples, language: str | None = None) -> Heard:
            self.asked += 1
            if self.asked == 1:
                raise ModelUnavailable("Gone for a moment.")
            return Heard("Here again.")

    listener, errors = Listener(Forgetful(), Activity), list[stt.STTError]()
    listener.on("error", errors.append)  # pyright: ignore[reportUnknownMemberType]
    speech = np.frombuffer(age_of_wisdom(), np.int16)
    events = await recognised(listener, np.concatenate([speech, silence(2), speech, silence(2)]))
    assert [each.alternatives[0].text for each in events] == ["Here again."]
    assert [each.recoverable for each in errors] == [True]


async def test_local_models_that_break_are_unavailable_and_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> None:
        raise OSError("no such weights")

    monkeypatch.setattr(Moonshine, "_load", broken)
    monkeypatch.setattr(Hibari, "_loaded", broken)
    async with aclosing(Moonshine()) as ears, aclosing(Hibari()) as voice:
        for asked in (ears.warm(), ears.recognise(silence(1)), voice.warm()):
            with pytest.raises(ModelUnavailable, match="OSError"):
                await asked
        monkeypatch.undo()
        assert word_errors("Hello.", (await ears.recognise(await said(voice, "Hello."))).text) == 0
