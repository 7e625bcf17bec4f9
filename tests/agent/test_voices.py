"""A worker's speech models: in memory for as long as anybody has use for them."""

import asyncio
from pathlib import Path

from alicia.agent.voices import Voices
from alicia.config import Config, ModelServer
from alicia.speech.segments import RATE
from alicia.speech.sound import wav
from support.scripted import Hang, ScriptedServer
from support.speech import age_of_wisdom, is_wisdom


async def test_models_that_nobody_uses_are_unloaded_and_loaded_again(tmp_path: Path) -> None:
    voices = Voices(Config(home=tmp_path))
    sound = wav(age_of_wisdom(), RATE)
    assert not voices.loaded
    first = await voices.transcribe(sound, "en")
    await voices.rest()
    assert voices.loaded
    await voices.rest(unused=0)
    assert not voices.loaded
    second = await voices.transcribe(sound, "en")
    await voices.aclose()
    assert first == second
    assert first is not None
    assert is_wisdom(first.text)


async def test_models_in_use_stay_however_long_that_takes(tmp_path: Path, scripted: ScriptedServer) -> None:
    scripted.fail("transcriptions", step=Hang())
    voices = Voices(Config(home=tmp_path, stt=ModelServer(url=scripted.url)))
    hearing = asyncio.create_task(voices.transcribe(wav(age_of_wisdom(), RATE), "en"))
    await scripted.arrived(1, route="transcriptions")
    await voices.rest(unused=0)
    assert voices.loaded
    hearing.cancel()
    await asyncio.wait([hearing])
    await voices.rest(unused=0)
    assert not voices.loaded
