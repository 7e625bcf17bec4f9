"""Speech models behind OpenAI-compatible servers."""

from collections.abc import AsyncGenerator
from typing import Final
from urllib.parse import urlsplit

import openai

from alicia.errors import ModelUnavailable
from alicia.speech.recogniser import Heard
from alicia.speech.segments import RATE, Samples
from alicia.speech.sound import wav
from alicia.speech.synthesiser import Manner

TIMEOUT: Final = 20.0
CHUNK: Final = 4800
"""Bytes that are handed on at once: a tenth of a second."""

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def _client(url: str, api_key: str | None) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(
        base_url=url,
        api_key=api_key or "none",
        max_retries=1,
        timeout=TIMEOUT,
        # A proxy for the world outside cannot reach this machine's own server.
        http_client=openai.DefaultAsyncHttpxClient(trust_env=urlsplit(url).hostname not in _LOOPBACK),
    )


class TranscriptionServer:
    """Speech-to-text at `/audio/transcriptions`; asked once, when something was said."""

    quick = False
    busy = False

    def __init__(self, url: str, model: str | None, api_key: str | None = None) -> None:
        self.model = model or "whisper-1"
        self._url = url
        self._client = _client(url, api_key)

    async def aclose(self) -> None:
        await self._client.close()

    async def warm(self) -> None:
        """Nothing to load here."""

    async def recognise(self, samples: Samples, language: str | None = None) -> Heard:
        try:
            answer = await self._client.audio.transcriptions.create(
                file=("speech.wav", wav(samples.tobytes(), RATE), "audio/wav"),
                model=self.model,
                language=language or openai.omit,
                response_format="json",
            )
        except openai.OpenAIError as error:
            raise ModelUnavailable(
                f"The speech-to-text server at {self._url} did not answer ({type(error).__name__}): see "
                "ALICIA_STT_URL, ALICIA_STT_MODEL and ALICIA_STT_API_KEY."
            ) from error
        return Heard(answer.text.strip(), None, language)


class SpeechServer:
    """Text-to-speech at `/audio/speech`, as raw samples of 24 kHz."""

    cheap = False

    def __init__(
        self, url: str, model: str | None, voice: str | None = None, api_key: str | None = None
    ) -> None:
        self.model = model or "tts-1"
        self._voice = voice or "alloy"
        self._url = url
        self._client = _client(url, api_key)

    async def aclose(self) -> None:
        await self._client.close()

    async def warm(self) -> None:
        """Nothing to load here."""

    async def speak(self, text: str, manner: Manner) -> AsyncGenerator[bytes, None]:
        rest = b""
        try:
            async with self._client.audio.speech.with_streaming_response.create(
                model=self.model,
                voice=manner.voice or self._voice,
                input=text,
                response_format="pcm",
                speed=manner.speed,
            ) as answer:
                async for chunk in answer.iter_bytes(CHUNK):
                    rest += chunk
                    whole = len(rest) // 2 * 2
                    yield rest[:whole]
                    rest = rest[whole:]
        except openai.OpenAIError as error:
            raise ModelUnavailable(
                f"The text-to-speech server at {self._url} did not answer ({type(error).__name__}): see "
                "ALICIA_TTS_URL, ALICIA_TTS_MODEL and ALICIA_TTS_API_KEY."
            ) from error
