"""Recorded clips that devices send: kept, transcribed, and then answered like speech."""

import asyncio
from typing import Final

import structlog
from msgspec.structs import replace

from alicia.engine.broadcast import PAUSE
from alicia.engine.services import Services
from alicia.engine.talk import Talk, Utterance
from alicia.errors import ErrorCode, ModelUnavailable, RemoteProtocolError
from alicia.ids import AudioId
from alicia.protocol.messages import AudioChunk
from alicia.storage.audio import clip_sound
from alicia.storage.pool import AWAY

log = structlog.get_logger(__name__)

LARGEST: Final = 16 * 2**20
UNFINISHED: Final = 4
"""How many clips may be on their way at once; of those that stay unfinished the oldest goes first."""


class Clips:
    """Joins the parts of clips in the order in which they come; `run` has them transcribed one by one."""

    def __init__(self, services: Services, talk: Talk) -> None:
        self._services = services
        self._talk = talk
        self._parts: dict[str, dict[int, bytes]] = {}
        self._ended: set[str] = set()
        """Clips that are whole and wait to be heard."""
        self._whole: asyncio.Queue[tuple[AudioId, str | None]] = asyncio.Queue()

    def accept(self, chunk: AudioChunk) -> AudioChunk:
        """Take a part in before it is stored; what of it may be stored. RemoteProtocolError says why not."""
        if chunk.data is None:
            raise RemoteProtocolError(ErrorCode.INVALID_FIELD, "a client's AudioChunk must have `data`")
        if self._services.transcriber is None:
            raise RemoteProtocolError(ErrorCode.UNAVAILABLE, "nobody here can hear recordings")
        if chunk.id not in self._parts:
            self._make_room()
        parts = self._parts.setdefault(chunk.id, {})
        # By its number, since what could not be stored is sent again.
        parts[chunk.sequence or 0] = chunk.data
        if sum(map(len, parts.values())) > LARGEST:
            del self._parts[chunk.id]
            raise RemoteProtocolError(
                ErrorCode.TOO_LARGE, "a recording holds at most 16 MiB: send it in several"
            )
        return chunk if self._talk.wishes.recording else replace(chunk, data=None)

    def _make_room(self) -> None:
        """Let the oldest clip go that was begun and never finished, if there is no place for another one."""
        if len(self._parts) < UNFINISHED:
            return
        abandoned = next((each for each in self._parts if each not in self._ended), None)
        if abandoned is None:
            raise RemoteProtocolError(
                ErrorCode.TOO_MANY, f"{UNFINISHED} recordings wait to be heard: send this one in a moment"
            )
        del self._parts[abandoned]

    def stored(self, chunk: AudioChunk, device: str) -> None:
        """A part is stored; with the last one the clip is heard."""
        if chunk.is_last or chunk.sequence is None:
            self._ended.add(chunk.id)
            self._whole.put_nowait((AudioId(chunk.id), device))

    def take_up(self, audio_id: AudioId) -> None:
        """Hear a clip that another agent has stored and did not come to."""
        self._whole.put_nowait((audio_id, None))

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            audio_id, device = await self._whole.get()
            try:
                await self._hear(audio_id, device)
            except ModelUnavailable as error:
                await self._talk.deaf(error)
                await self._settle(audio_id)

    async def _settle(self, audio_id: AudioId) -> None:
        """Nothing comes of this clip, so no later agent need try: its sender was told to send another."""
        await self._talk.hear_nothing(Utterance(audio_id=audio_id, text=""))

    async def _hear(self, audio_id: AudioId, device: str | None) -> None:
        transcriber = self._services.transcriber
        sound = b"".join(self._parts.pop(audio_id, {}).values())
        self._ended.discard(audio_id)
        # The first parts may have been taken by another agent; what is not to be kept is only here.
        sound = await self._kept(audio_id) or sound
        if transcriber is None or not sound:
            return
        heard = await transcriber.transcribe(sound, self._talk.wishes.language)
        if heard is None:
            await self._talk.unreadable(audio_id)
            await self._settle(audio_id)
            return
        utterance = Utterance(
            audio_id=audio_id,
            text=heard.text,
            confidence=heard.confidence,
            language=heard.language,
            model=heard.model,
            device=device,
        )
        if heard.text:
            await self._talk.hear(utterance, b"")
        else:
            await self._talk.hear_nothing(utterance)

    async def _kept(self, audio_id: AudioId) -> bytes | None:
        """What is stored of a clip; a database that is away is waited for."""
        while True:
            try:
                async with self._services.pool.connection() as conn:
                    return await clip_sound(conn, audio_id)
            except AWAY:
                log.warning("database away", audio_id=audio_id)
                await asyncio.sleep(PAUSE)
