"""Speech models behind OpenAI-compatible servers, over real HTTP."""

from contextlib import aclosing
from typing import Any

import numpy as np
import pytest

from alicia.errors import ModelUnavailable
from alicia.speech.servers import SpeechServer, TranscriptionServer
from alicia.speech.synthesiser import Manner
from support.scripted import Cut, Fail, Script, ScriptedServer
from support.scripted.senses import tone


async def test_a_recording_goes_out_as_wav_and_comes_back_as_text(scripted: ScriptedServer) -> None:
    scripted.api_key = "key"
    scripted.hear(" Hello there. ")
    async with aclosing(TranscriptionServer(scripted.url, "whisper-large", "key")) as server:
        heard = await server.recognise(np.zeros(16_000, np.int16), "en")
    body = scripted.requests[0].body
    assert (heard.text, heard.language) == ("Hello there.", "en")
    assert b"whisper-large" in body
    assert b"RIFF" in body


async def test_speech_comes_as_it_is_made(scripted: ScriptedServer) -> None:
    async with (
        aclosing(SpeechServer(scripted.url, "tts", "nova")) as server,
        aclosing(server.speak("Hello.", Manner(speed=1.25))) as sound,
    ):
        pieces = [piece async for piece in sound]
    wanted = scripted.requests[0].json
    assert (wanted["voice"], wanted["speed"], wanted["response_format"]) == ("nova", 1.25, "pcm")
    assert len(pieces) > 1
    assert all(len(piece) % 2 == 0 for piece in pieces)
    assert b"".join(pieces) == tone("Hello.")


@pytest.mark.parametrize(
    "told",
    [["nova", "fable"], {"voices": ["nova", "fable"]}, {"data": [{"id": "nova"}, {"name": "fable"}]}],
    ids=["list", "voices", "data"],
)
async def test_a_server_that_tells_its_voices_is_understood(scripted: ScriptedServer, told: Any) -> None:
    scripted.voices = told
    async with aclosing(SpeechServer(scripted.url, None)) as server:
        assert await server.voices() == ["nova", "fable"]


@pytest.mark.parametrize("told", [None, {}, {"voices": 7}, "nova", 7])
async def test_a_server_that_does_not_tell_its_voices_has_none(scripted: ScriptedServer, told: Any) -> None:
    scripted.voices = told
    async with aclosing(SpeechServer(scripted.url, None)) as server:
        assert await server.voices() == []


async def test_a_server_that_fails_is_named_with_the_setting_to_look_at(scripted: ScriptedServer) -> None:
    scripted.fail("transcriptions", times=2)
    scripted.fail("speech", times=2)
    async with aclosing(TranscriptionServer(scripted.url, None)) as server:
        with pytest.raises(ModelUnavailable, match="ALICIA_STT_URL"):
            await server.recognise(np.zeros(16_000, np.int16))
    async with aclosing(SpeechServer(scripted.url, None)) as voice:
        with pytest.raises(ModelUnavailable, match="ALICIA_TTS_URL"):
            await anext(voice.speak("Hello.", Manner()))


async def test_a_voice_that_breaks_off_is_unavailable(scripted: ScriptedServer) -> None:
    scripted.script("speech", Script("Hel", Cut()))
    async with aclosing(SpeechServer(scripted.url, None)) as server:
        with pytest.raises(ModelUnavailable, match="ALICIA_TTS_URL"):
            assert not [len(piece) async for piece in server.speak("Hello.", Manner())]
        whole = b"".join([piece async for piece in server.speak("Hello.", Manner())])
    assert whole == tone("Hello.")


async def test_an_answer_without_a_text_is_none(scripted: ScriptedServer) -> None:
    scripted.fail("transcriptions", step=Fail(200))
    async with aclosing(TranscriptionServer(scripted.url, None)) as server:
        with pytest.raises(ModelUnavailable, match="ALICIA_STT_URL"):
            await server.recognise(np.zeros(16_000, np.int16))
