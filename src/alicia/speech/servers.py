"""Speech models behind OpenAI-compatible servers."""

from collections.abc import AsyncGenerator
from typing import Final
from urllib.parse import urlsplit

import msgspec
import openai

from alicia.errors import without_password
from alicia.speech.failure import unavailable
from alicia.speech.recogniser import Heard
from alicia.speech.segments import RATE, Samples
from alicia.speech.sound import wav
from alicia.speech.synthesiser import Manner

TIMEOUT: Final = 20.0
LIST_TIMEOUT: Final = 3.0
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
        self._url = without_password(url)
        self._client = _client(url, api_key)

    async def aclose(self) -> None:
        await self._client.close()

    async def warm(self) -> None:
        """Nothing to load here."""

    async def recognise(self, samples: Samples, language: str | None = None) -> Heard:
        with unavailable(
            f"The speech-to-text server at {self._url} did not answer",
            "see ALICIA_STT_URL, ALICIA_STT_MODEL and ALICIA_STT_API_KEY",
        ):
            answer = await self._client.audio.transcriptions.create(
                file=("speech.wav", wav(samples.tobytes(), RATE), "audio/wav"),
                model=self.model,
                language=language or openai.omit,
                response_format="json",
            )
            return Heard(answer.text.strip(), None, language)


class SpeechServer:
    """Text-to-speech at `/audio/speech`, as raw samples of 24 kHz."""

    cheap = False

    def __init__(
        self, url: str, model: str | None, voice: str | None = None, api_key: str | None = None
    ) -> None:
        self.model = model or "tts-1"
        self._voice = voice or "alloy"
        self._url = without_password(url)
        self._client = _client(url, api_key)

    async def aclose(self) -> None:
        await self._client.close()

    async def warm(self) -> None:
        """Nothing to load here."""

    async def voices(self) -> list[str]:
        """The names of its voices; none where it has no call that tells them, as OpenAI has none."""
        client = self._client.with_options(timeout=LIST_TIMEOUT, max_retries=0)
        try:
            return _names(await client.get("/audio/voices", cast_to=object))
        except openai.OpenAIError:
            return []

    async def speak(self, text: str, manner: Manner) -> AsyncGenerator[bytes, None]:
        rest = b""
        with unavailable(
            f"The text-to-speech server at {self._url} did not answer",
            "see ALICIA_TTS_URL, ALICIA_TTS_MODEL and ALICIA_TTS_API_KEY",
        ):
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


class _Named(msgspec.Struct):
    id: str = ""
    name: str = ""


class _Listed(msgspec.Struct):
    voices: list[str | _Named] = []
    data: list[str | _Named] = []


def _names(told: object) -> list[str]:
    """The names in a list of voices, or in one under the keys that servers use for it."""
    try:
        listed = msgspec.convert(told, list[str | _Named] | _Listed)
    except msgspec.ValidationError:
        return []
    found = listed.voices or listed.data if isinstance(listed, _Listed) else listed
    return [each if isinstance(each, str) else each.id or each.name for each in found]
