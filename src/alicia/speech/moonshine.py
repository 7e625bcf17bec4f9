"""The local speech-to-text model: Moonshine, tiny and English, in a thread of its own."""

import asyncio
import importlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, Final

from alicia.errors import ModelUnavailable
from alicia.speech.failure import unavailable
from alicia.speech.recogniser import Heard
from alicia.speech.segments import RATE, Samples

MODEL: Final = "moonshine-tiny-en"
LANGUAGE: Final = "en"


class Moonshine:
    """Loads the model with the first speech, or with `warm`; one thread does all the work."""

    model = MODEL
    quick = True

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="moonshine")
        self._transcriber: Any = None
        self._waiting = 0

    async def aclose(self) -> None:
        """Let the piece at hand end, and give the memory back."""
        await asyncio.to_thread(self._worker.shutdown, cancel_futures=True)
        if self._transcriber is not None:
            self._transcriber.close()
            self._transcriber = None

    async def warm(self) -> None:
        """Load the model, so that the first words need not wait for it."""
        with _unavailable():
            await asyncio.get_running_loop().run_in_executor(self._worker, self._load)

    @property
    def busy(self) -> bool:
        return self._waiting > 1

    async def recognise(self, samples: Samples, language: str | None = None) -> Heard:
        self._waiting += 1
        try:
            with _unavailable():
                text = await asyncio.get_running_loop().run_in_executor(self._worker, self._run, samples)
        finally:
            self._waiting -= 1
        return Heard(text, None, LANGUAGE)

    def _run(self, samples: Samples) -> str:
        audio: list[float] = (samples / 32768.0).tolist()
        lines = self._load().transcribe_without_streaming(audio, RATE).lines
        return " ".join(line.text.strip() for line in lines).strip()

    def _load(self) -> Any:
        if self._transcriber is not None:
            return self._transcriber
        try:
            transcriber: Any = importlib.import_module("moonshine_voice.transcriber")
            api: Any = importlib.import_module("moonshine_voice.moonshine_api")
            utils: Any = importlib.import_module("moonshine_voice.utils")
        except ImportError as error:
            raise ModelUnavailable(
                "The local speech-to-text model is not installed: install alicia[local], or set "
                "ALICIA_STT_URL."
            ) from error
        # A threshold of nothing keeps the library from cutting what was cut already: whole segments are heard
        # with a third of the errors.
        options = {"vad_threshold": "0", "return_audio_data": "false"}
        path = str(utils.get_model_path("tiny-en"))
        self._transcriber = transcriber.Transcriber(path, api.ModelArch.TINY, options=options)
        return self._transcriber


def _unavailable() -> AbstractContextManager[None]:
    return unavailable("The local speech-to-text model failed", "set ALICIA_STT_URL if that goes on")
