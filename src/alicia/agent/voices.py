"""Speech for the rooms of a worker. Nothing of it is imported or loaded before somebody wants it."""

import asyncio
import importlib
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import structlog
from livekit import rtc

from alicia.config import Config
from alicia.engine.talk import Talk
from alicia.engine.voice import Transcript
from alicia.speech.failure import unavailable

if TYPE_CHECKING:
    from alicia.agent.speech import Speech

log = structlog.get_logger(__name__)

UNUSED: Final = 300.0
"""Seconds without anybody who speaks or listens after which the models give their memory back."""
LOOK_EVERY: Final = 30.0


class Voices:
    """One set of speech models for all rooms; `run` unloads them when nobody has use for them."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._speech: Speech | None = None
        self._opening = asyncio.Lock()
        self._users = 0
        self._used_at = 0.0

    @property
    def loaded(self) -> bool:
        """Whether there are models in memory, or about to be."""
        return self._speech is not None

    async def attend(self, room: rtc.Room, talk: Talk) -> None:
        """Hear and speak in a room as soon as somebody wants it, until cancelled."""
        await talk.wanted.wait()
        async with self._using() as speech:
            from alicia.agent.senses import Senses

            await Senses(room, speech, talk).run()

    async def transcribe(self, sound: bytes, language: str | None) -> Transcript | None:
        """What is said in a recorded clip."""
        with unavailable("A recording could not be heard", "send another"):
            async with self._using() as speech:
                return await speech.transcribe(sound, language)

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            await self.rest()

    async def rest(self, unused: float = UNUSED) -> None:
        """Unload what nobody has used for so many seconds; who wants it again has it loaded again."""
        async with self._opening:
            if self._users or time.monotonic() - self._used_at < unused:
                return
            speech, self._speech = self._speech, None
        if speech is not None:
            await speech.aclose()
            log.info("speech unloaded")

    @asynccontextmanager
    async def _using(self) -> AsyncGenerator["Speech"]:
        self._users += 1
        try:
            yield await self._open()
        finally:
            self._users -= 1
            self._used_at = time.monotonic()

    async def _open(self) -> "Speech":
        async with self._opening:
            if self._speech is None:
                # Half a second of work that must not hold up the other rooms.
                await asyncio.to_thread(importlib.import_module, "alicia.agent.senses")
                from alicia.agent.speech import Speech
                from alicia.speech.activity import load

                await asyncio.to_thread(load)

                self._speech = Speech(self._config)
        return self._speech

    async def aclose(self) -> None:
        if self._speech is not None:
            await self._speech.aclose()
