"""The local text-to-speech model: Hibari, one English voice, in a thread of its own."""

import asyncio
import importlib
import os
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from alicia.errors import ModelUnavailable
from alicia.speech.failure import unavailable
from alicia.speech.synthesiser import RATE, SPEEDS, Manner

MODEL: Final = "hibari"
VOICE: Final = "heart"
"""The only voice whose weights are installed; the library would fetch others."""

AUDIBLE: Final = 0.008
BEFORE: Final = 0.03
AFTER: Final = 0.2
"""Seconds of silence that are kept around a phrase; the model makes 0.3 s before and 0.45 s after it."""


class Hibari:
    """Loads the model with the first text, or with `warm`; one thread does all the work."""

    model = MODEL
    cheap = True

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="hibari")
        self._voice: Any = None

    async def aclose(self) -> None:
        """Let the sentence at hand end, and give the memory back."""
        await asyncio.to_thread(self._worker.shutdown, cancel_futures=True)
        self._voice = None

    async def warm(self) -> None:
        """Load the model and let it speak once: the first time takes ten times as long."""
        async for _ in self.speak("Hello.", Manner()):
            pass

    async def speak(self, text: str, manner: Manner) -> AsyncGenerator[bytes, None]:
        loop = asyncio.get_running_loop()
        speed = min(max(manner.speed, SPEEDS[0]), SPEEDS[1])
        with unavailable("The local voice failed", "set ALICIA_TTS_URL if that goes on"):
            phonemes = await loop.run_in_executor(self._worker, self._phonemes, text)
            for phrase in phonemes:
                yield await loop.run_in_executor(self._worker, self._run, phrase, speed)

    def _phonemes(self, text: str) -> list[str]:
        return self._loaded().phonemize(text)

    def _run(self, phrase: str, speed: float) -> bytes:
        numpy: Any = importlib.import_module("numpy")
        sound = self._loaded().from_phonemes(phrase, speed)
        audible = numpy.flatnonzero(numpy.abs(sound) > AUDIBLE)
        if len(audible):
            start = max(0, audible[0] - round(BEFORE * RATE))
            sound = sound[start : audible[-1] + round(AFTER * RATE)]
        return (numpy.clip(sound, -1.0, 1.0) * 32767).astype("<i2").tobytes()

    def _loaded(self) -> Any:
        if self._voice is None:
            # Later onnxruntimes write an id of the machine unless told not to before their first import.
            os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
            try:
                hibari: Any = importlib.import_module("hibari")
            except ImportError as error:
                raise ModelUnavailable(
                    "The local voice is not installed: install alicia[local], or set ALICIA_TTS_URL."
                ) from error
            self._voice = hibari.Hibari(VOICE)
        return self._voice
