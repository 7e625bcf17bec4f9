"""A program's microphone and loudspeaker in a conversation's room."""

import asyncio
import contextlib
import io
import wave
from collections.abc import AsyncGenerator, AsyncIterable, Coroutine
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypeAlias

from livekit import rtc
from livekit.rtc.participant import PublishTrackError
from livekit.rtc.room import EventTypes

from alicia.client.closing import leave
from alicia.errors import AliciaError

HEARD_RATE: Final = 24_000
"""Samples a second of what is heard."""
FRAMES: Final = 50
"""Frames a second."""
QUEUE_MS: Final = 100
"""How far the microphone may run ahead of its time."""
AGAIN: Final = 1.0
"""Seconds until publishing is tried again."""

Speech: TypeAlias = bytes | str | PathLike[str] | AsyncIterable[bytes]
"""A WAV file or its bytes; or samples of 16 bits and one channel as they come."""


class Sound:
    """Outlives the rooms that a conversation is in: what is to be said goes on in the next one."""

    def __init__(self) -> None:
        self._room: rtc.Room | None = None
        self._rate = 0
        self._source: rtc.AudioSource | None = None
        self._words: asyncio.Queue[bytes] = asyncio.Queue()
        """What is to be said, by frames: a room that is lost takes no more than one of them along."""
        self._ears: set[asyncio.Queue[bytes]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def enter(self, room: rtc.Room) -> None:
        """Speak and listen in this room from now on."""
        self._room = room
        events: tuple[EventTypes, ...] = ("track_published", "track_subscribed")
        for event in events:
            room.on(event, self._noticed)  # pyright: ignore[reportUnknownMemberType]
        if self._rate:
            self._publish()
        self._look_around()

    async def leave(self) -> None:
        """Leave the room, in the order that the SDK needs."""
        room, source = self._room, self._source
        self._room = self._source = None
        if room is not None:
            await leave(room, tasks=self._tasks, sources=[source] if source else [])

    async def speak(self, speech: Speech, rate: int) -> None:
        """Say this in real time; returns when the last of it is on its way."""
        rest = b""
        if isinstance(speech, AsyncIterable):
            self._take_microphone(rate)
            async for samples in speech:
                rest = self._say(rest + samples)
        else:
            samples, rate = _read(speech)
            self._take_microphone(rate)
            rest = self._say(samples)
        if rest:
            self._words.put_nowait(rest)
        await self._words.join()

    async def listen(self) -> AsyncGenerator[bytes, None]:
        """What the agent says, 20 ms at a time."""
        ear: asyncio.Queue[bytes] = asyncio.Queue()
        self._ears.add(ear)
        self._look_around()
        try:
            while True:
                yield await ear.get()
        finally:
            self._ears.discard(ear)

    def _say(self, samples: bytes) -> bytes:
        """Queue whole frames; what is left is the beginning of the next one."""
        size = 2 * (self._rate // FRAMES)
        whole = len(samples) // size * size
        for start in range(0, whole, size):
            self._words.put_nowait(samples[start : start + size])
        return samples[whole:]

    def _take_microphone(self, rate: int) -> None:
        if self._rate not in (0, rate):
            raise AliciaError(f"This conversation is spoken in at {self._rate} samples a second, not {rate}.")
        if not self._rate:
            self._rate = rate
            self._publish()

    def _publish(self) -> None:
        if self._room is None or self._source is not None:
            return
        self._source = rtc.AudioSource(self._rate, 1, queue_size_ms=QUEUE_MS)
        self._start(self._speak_in(self._room, self._source, self._rate))

    async def _speak_in(self, room: rtc.Room, source: rtc.AudioSource, rate: int) -> None:
        track = rtc.LocalAudioTrack.create_audio_track("microphone", source)
        options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
        while True:
            try:
                publication = await room.local_participant.publish_track(track, options)
                break
            except PublishTrackError:
                # The room is just being lost, or found again.
                await asyncio.sleep(AGAIN)
        heard = asyncio.Event()
        self._start(_wait_for_ears(publication, heard))
        await self._speak_all(source, rate, heard)

    async def _speak_all(self, source: rtc.AudioSource, rate: int, heard: asyncio.Event) -> None:
        """A microphone is never off: between words there is silence, which tells that a turn is over.

        The words wait until somebody hears; the first of them would be lost otherwise.
        """
        count = rate // FRAMES
        while True:
            words = self._words.get_nowait() if heard.is_set() and not self._words.empty() else b""
            try:
                await source.capture_frame(rtc.AudioFrame(words.ljust(2 * count, b"\0"), rate, 1, count))
            finally:
                if words:
                    self._words.task_done()

    def _noticed(self, *_: object) -> None:
        self._look_around()

    def _look_around(self) -> None:
        """Subscribe to the agent's voice while anybody listens, and hear each of its tracks once."""
        if self._room is None or not self._ears:
            return
        for other in self._room.remote_participants.values():
            if other.kind != rtc.ParticipantKind.PARTICIPANT_KIND_AGENT:
                continue
            for publication in other.track_publications.values():
                track = publication.track
                if publication.kind != rtc.TrackKind.KIND_AUDIO:
                    continue
                if track is None:
                    publication.set_subscribed(True)
                elif not any(task.get_name() == track.sid for task in self._tasks):
                    self._start(self._hear(track), track.sid)

    async def _hear(self, track: rtc.RemoteTrack) -> None:
        stream = rtc.AudioStream.from_track(
            track=track, sample_rate=HEARD_RATE, num_channels=1, frame_size_ms=1000 // FRAMES
        )
        try:
            async for event in stream:
                for ear in self._ears:
                    ear.put_nowait(bytes(event.frame.data))
        finally:
            with contextlib.suppress(asyncio.CancelledError):
                await stream.aclose()

    def _start(self, work: Coroutine[Any, Any, None], name: str | None = None) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _wait_for_ears(publication: rtc.LocalTrackPublication, heard: asyncio.Event) -> None:
    await publication.wait_for_subscription()
    heard.set()


def _read(speech: bytes | str | PathLike[str]) -> tuple[bytes, int]:
    """The samples of a WAV file, and how many there are a second."""
    data = speech if isinstance(speech, bytes) else Path(speech).read_bytes()
    try:
        with wave.open(io.BytesIO(data)) as file:
            if (file.getnchannels(), file.getsampwidth()) != (1, 2):
                raise AliciaError("Give a WAV file of one channel and 16 bits.")
            return file.readframes(file.getnframes()), file.getframerate()
    except (wave.Error, EOFError) as error:
        raise AliciaError("This is no WAV file.") from error
