"""Speech for the rooms of a worker. Nothing of it is imported or loaded before somebody wants it."""

import asyncio
import importlib
from typing import TYPE_CHECKING

import structlog
from livekit import rtc

from alicia.config import Config
from alicia.engine.talk import Talk
from alicia.engine.voice import Transcript

if TYPE_CHECKING:
    from alicia.agent.speech import Speech

log = structlog.get_logger(__name__)


class Voices:
    """One set of speech models for all rooms."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._speech: Speech | None = None
        self._opening = asyncio.Lock()

    async def attend(self, room: rtc.Room, talk: Talk) -> None:
        """Hear and speak in a room as soon as somebody wants it, until cancelled."""
        await talk.wanted.wait()
        speech = await self._open()
        from alicia.agent.senses import Senses

        await Senses(room, speech, talk).run()

    async def transcribe(self, sound: bytes, language: str | None) -> Transcript | None:
        """What is said in a recorded clip."""
        return await (await self._open()).transcribe(sound, language)

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
