"""The speech models of a worker, shared by all its rooms and loaded when the first one is spoken in."""

import asyncio
import time
from typing import Protocol

import structlog

from alicia.config import Config
from alicia.engine.voice import Transcript
from alicia.errors import ModelUnavailable
from alicia.speech.activity import Activity
from alicia.speech.hibari import Hibari
from alicia.speech.moonshine import Moonshine
from alicia.speech.recogniser import Heard, Recogniser, credible
from alicia.speech.segments import RATE, Edge, Samples, Segmenter
from alicia.speech.servers import SpeechServer, TranscriptionServer
from alicia.speech.sound import UnreadableSound, decode
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

    async def transcribe(self, sound: bytes, language: str | None) -> Transcript | None:
        """What is said in a file of sound, None if it is no such file."""
        try:
            pieces = await asyncio.to_thread(_pieces, sound)
        except UnreadableSound:
            return None
        heard: list[Heard] = []
        for samples, seconds in pieces:
            piece = await self.recogniser.recognise(samples, language)
            if credible(piece.text, seconds):
                heard.append(piece)
        sure = [piece.confidence for piece in heard if piece.confidence is not None]
        return Transcript(
            text=" ".join(piece.text for piece in heard),
            confidence=sum(sure) / len(sure) if sure else None,
            language=heard[0].language if heard else language,
            model=self.recogniser.model,
        )

    async def aclose(self) -> None:
        await self.recogniser.aclose()
        await self.synthesiser.aclose()


def _pieces(sound: bytes) -> list[tuple[Samples, float]]:
    """The stretches of speech in a file of sound, and for how many seconds of each there is a voice."""
    segmenter = Segmenter(Activity())
    pieces: list[tuple[Samples, float]] = []
    samples = decode(sound)
    for start in range(0, len(samples), RATE):
        for edge in segmenter.feed(samples[start : start + RATE]):
            if edge is Edge.ENDED:
                pieces.append((segmenter.take(), segmenter.seconds))
    if segmenter.speaking:
        pieces.append((segmenter.take(), segmenter.seconds))
    return pieces
