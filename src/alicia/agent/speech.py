"""The speech models of a worker, shared by all its rooms and loaded when the first one is spoken in."""

import asyncio
import time
from typing import Protocol

import structlog

from alicia.config import Config
from alicia.errors import ModelUnavailable
from alicia.speech.hibari import Hibari
from alicia.speech.moonshine import Moonshine
from alicia.speech.recogniser import Recogniser
from alicia.speech.servers import SpeechServer, TranscriptionServer
from alicia.speech.synthesiser import Synthesiser

log = structlog.get_logger(__name__)


class _Model(Protocol):
    async def warm(self) -> None: ...
    async def aclose(self) -> None: ...


class SpeechToText(_Model, Recogniser, Protocol):
    """A recogniser that can be loaded ahead and closed."""


class TextToSpeech(_Model, Synthesiser, Protocol):
    """A synthesiser that can be loaded ahead and closed."""


class Speech:
    """Local models, or servers where the settings name some."""

    def __init__(self, config: Config) -> None:
        stt, tts = config.stt, config.tts
        self.recogniser: SpeechToText = (
            Moonshine() if stt is None else TranscriptionServer(stt.url, stt.model, stt.api_key)
        )
        self.synthesiser: TextToSpeech = (
            Hibari() if tts is None else SpeechServer(tts.url, tts.model, tts.voice, tts.api_key)
        )
        self._warm = asyncio.Lock()
        self._is_warm = False

    async def warm(self) -> None:
        """Load what is not loaded yet; what cannot be is tried again when it is needed."""
        async with self._warm:
            if self._is_warm:
                return
            began = time.monotonic()
            results = await asyncio.gather(
                self.recogniser.warm(), self.synthesiser.warm(), return_exceptions=True
            )
            for result in results:
                if isinstance(result, ModelUnavailable):
                    log.warning("speech not ready", reason=str(result))
                elif isinstance(result, BaseException):
                    raise result
            self._is_warm = True
            log.info("speech ready", seconds=round(time.monotonic() - began, 1))

    async def aclose(self) -> None:
        await self.recogniser.aclose()
        await self.synthesiser.aclose()
