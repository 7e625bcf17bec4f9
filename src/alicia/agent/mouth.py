"""Alicia's voice in a room: an answer's sentences on the agent's track, one after the other without a gap."""

import asyncio
import contextlib
from collections import deque
from datetime import UTC, datetime
from typing import Final, Protocol

import structlog
from livekit import rtc
from livekit.rtc.participant import PublishTrackError, UnpublishTrackError

from alicia.agent.clip import FRAME, Clip
from alicia.engine.voice import Reached, Wishes
from alicia.errors import ModelUnavailable
from alicia.ids import MessageId, SentenceId
from alicia.protocol.messages import AssistantSentence
from alicia.protocol.values import Map
from alicia.speech.spoken import Reader
from alicia.speech.synthesiser import RATE, Manner, Synthesiser
from alicia.telemetry import tracing
from alicia.telemetry.tracing import Span

log = structlog.get_logger(__name__)

QUEUE_MS: Final = 300
"""How much sound is with LiveKit ahead of its time; it can be taken back."""
SUBSCRIBED: Final = 3.0
"""Seconds that the first listener has to subscribe before she speaks all the same."""
AGAIN: Final = 1.0
"""Seconds until publishing is tried again in a room that is just being lost."""
AHEAD: Final = 2
"""How many sentences are made before their time comes."""


class Audience(Protocol):
    """Who is told what was said, and what went wrong."""

    async def spoken(
        self, sentence_id: SentenceId, sound: bytes, duration_ms: int, track_sid: str, meta: Map
    ) -> None:
        """A sentence has begun to sound; this is all of it."""
        ...

    async def voiceless(self, answer_id: MessageId, error: ModelUnavailable) -> None:
        """The rest of this answer cannot be heard."""
        ...


class Mouth:
    """Speaks what it is given to `say`; `run` does the work. `hush`, `pause` and `resume` hold at once."""

    def __init__(self, room: rtc.Room, synthesiser: Synthesiser, audience: Audience) -> None:
        self.source = rtc.AudioSource(RATE, 1, queue_size_ms=QUEUE_MS)
        self._room = room
        self._synthesiser = synthesiser
        self._audience = audience
        self._manner = Manner()
        self._silent = True
        self._listening = asyncio.Event()
        self._audible = asyncio.Event()
        self._track_sid = ""
        self._wanted: asyncio.Queue[tuple[AssistantSentence, Span | None]] = asyncio.Queue()
        """Sentences, each with the span that it was said in."""
        self._clips: asyncio.Queue[Clip] = asyncio.Queue(AHEAD)
        self._making: tuple[Clip, asyncio.Task[None]] | None = None
        self._foreseen: tuple[tuple[str, Manner], asyncio.Task[bytes]] | None = None
        self._playing: Clip | None = None
        self._pushed = 0
        """Samples handed to LiveKit so far."""
        self._recent: deque[bytes] = deque(maxlen=2 * QUEUE_MS // 20)
        self._held: list[bytes] = []
        """What a pause took back."""
        self._sounding: deque[tuple[int, Clip]] = deque(maxlen=AHEAD + 2)
        """The newest clips, each with the sample where it begins."""
        self._going = asyncio.Event()
        self._going.set()
        self._reader = Reader()
        self._answer_id: str | None = None
        self._silenced: str | None = None
        self._tasks = asyncio.TaskGroup()

    @property
    def speaking(self) -> bool:
        """Something sounds, or is about to."""
        return bool(self._making or self._playing or self._held or self.source.queued_duration) or not (
            self._wanted.empty() and self._clips.empty()
        )

    async def _open(self) -> None:
        """Publish the track as soon as anybody listens: who subscribes late misses the beginning."""
        await self._listening.wait()
        track = rtc.LocalAudioTrack.create_audio_track("alicia", self.source)
        options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
        while True:
            try:
                publication = await self._room.local_participant.publish_track(track, options)
                break
            except PublishTrackError as error:
                log.warning("voice not published", reason=str(error))
                await asyncio.sleep(AGAIN)
        self._track_sid = publication.sid
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(publication.wait_for_subscription(), SUBSCRIBED)
        self._audible.set()

    async def run(self) -> None:
        """Until cancelled."""
        async with self._tasks:
            self._tasks.create_task(self._open())
            self._tasks.create_task(self._make_all())
            self._tasks.create_task(self._play_all())

    async def aclose(self) -> None:
        """After `run`: a frame that is still on its way when the source goes makes the SDK abort."""
        self.source.clear_queue()
        await self.source.wait_for_playout()
        if self._track_sid and self._room.isconnected():
            with contextlib.suppress(UnpublishTrackError, TimeoutError):
                await asyncio.wait_for(self._room.local_participant.unpublish_track(self._track_sid), 5)
        await self.source.aclose()

    # What it is told.

    def settle(self, wishes: Wishes, *, listening: bool) -> None:
        """How to speak from the next sentence on, and whether anybody listens; silence holds at once."""
        self._manner = Manner(voice=wishes.voice, speed=wishes.speed, language=wishes.language)
        self._silent = wishes.mute or not listening
        if self._silent:
            self.hush()
        else:
            self._listening.set()

    def say(self, sentence: AssistantSentence) -> None:
        """Queue a sentence, unless nobody is to hear it."""
        if not self._silent and sentence.previous_id != self._silenced:
            self._wanted.put_nowait((sentence, tracing.here()))

    def foresee(self, text: str) -> None:
        """Make the sound of what is likely to be said first, to have it at hand."""
        spoken = Reader(self._manner.language).read(text)
        if self._silent or not spoken or not self._synthesiser.cheap:
            return
        if self._foreseen is not None:
            self._foreseen[1].cancel()
        making = self._tasks.create_task(self._sound(spoken, self._manner))
        self._foreseen = (spoken, self._manner), making

    def hush(self, answer_id: MessageId | None = None) -> Reached | None:
        """Be silent at once and forget what is queued; how far the answer was heard, if any was being said.

        With `answer_id` nothing more of that answer is said either.
        """
        reached = self._reached() if self.speaking else None
        self._silenced = answer_id or self._silenced
        self.source.clear_queue()
        while not self._wanted.empty():
            self._wanted.get_nowait()
        while not self._clips.empty():
            self._clips.get_nowait().drop()
        for _, clip in self._sounding:
            clip.heard = clip.heard or (reached is not None and clip.sentence.id == reached.sentence_id)
            clip.drop()
        if self._making is not None:
            clip, making = self._making
            clip.drop()
            making.cancel()
        self._sounding.clear()
        self._recent.clear()
        self._held.clear()
        self._going.set()
        return reached

    def pause(self) -> None:
        """Be silent at once, but remember where."""
        if not self._going.is_set():
            return
        self._going.clear()
        queued = min(round(self.source.queued_duration * RATE / FRAME), len(self._recent))
        self.source.clear_queue()
        self._held = [self._recent.pop() for _ in range(queued)][::-1]
        self._pushed -= queued * FRAME

    def resume(self) -> None:
        """Go on where `pause` was."""
        if not self._going.is_set():
            self._tasks.create_task(self._give_back())

    async def _give_back(self) -> None:
        held, self._held = self._held, []
        for frame in held:
            await self._push(frame)
        self._going.set()

    def _reached(self) -> Reached | None:
        place = self._pushed - round(self.source.queued_duration * RATE)
        for start, clip in reversed(self._sounding):
            if start <= place:
                return Reached(
                    answer_id=clip.sentence.previous_id,
                    sentence_id=clip.sentence.id,
                    heard_characters=clip.characters(place - start),
                )
        return None

    # Making and playing.

    async def _make_all(self) -> None:
        while True:
            sentence, said_in = await self._wanted.get()
            if sentence.previous_id != self._answer_id:
                self._answer_id, self._reader = sentence.previous_id, Reader(self._manner.language)
            text = self._reader.read(sentence.text)
            if not text or sentence.previous_id == self._silenced:
                continue
            clip = Clip(sentence, text, self._manner, said_in)
            making = self._tasks.create_task(self._make(clip))
            self._making = clip, making
            await self._clips.put(clip)
            await asyncio.wait([making])
            self._making = None

    async def _make(self, clip: Clip) -> None:
        try:
            with tracing.within(clip.said_in), tracing.span("speech", sentence_id=clip.sentence.id):
                if sound := await self._foreseen_sound(clip):
                    clip.add(sound)
                    return
                async for sound in self._synthesiser.speak(clip.text, clip.manner):
                    clip.add(sound)
        except ModelUnavailable as error:
            log.warning("voice failed", sentence_id=clip.sentence.id, reason=str(error))
            self._silenced = clip.sentence.previous_id
            await self._audience.voiceless(clip.sentence.previous_id, error)
        finally:
            clip.end()

    async def _foreseen_sound(self, clip: Clip) -> bytes:
        foreseen, self._foreseen = self._foreseen, None
        if foreseen is None or foreseen[0] != (clip.text, clip.manner):
            return b""
        return await foreseen[1]

    async def _sound(self, text: str, manner: Manner) -> bytes:
        """All of the sound; nothing when that cannot be made, which is told when it is wanted."""
        try:
            return b"".join([sound async for sound in self._synthesiser.speak(text, manner)])
        except ModelUnavailable:
            return b""

    async def _play_all(self) -> None:
        await self._audible.wait()
        while True:
            self._playing = await self._clips.get()
            await self._play(self._playing)
            self._playing = None

    async def _play(self, clip: Clip) -> None:
        while (frame := await clip.frame()) is not None:
            await self._going.wait()
            if clip.dropped:
                return
            if clip.offset == 0:
                clip.sounded_at = datetime.now(UTC)
                self._sounding.append((self._pushed, clip))
                self._tasks.create_task(self._announce(clip))
            clip.offset += FRAME
            await self._push(frame)

    async def _push(self, frame: bytes) -> None:
        self._recent.append(frame)
        self._pushed += FRAME
        await self.source.capture_frame(rtc.AudioFrame(frame, RATE, 1, FRAME))

    async def _announce(self, clip: Clip) -> None:
        """Have a sentence's sound stored once the first of it is heard and all of it made."""
        await asyncio.sleep(self.source.queued_duration)
        clip.heard = clip.heard or not clip.dropped
        if not clip.heard:
            return
        sound, duration_ms = await clip.recording()
        if sound:
            meta: Map = {"model": self._synthesiser.model, "speed": clip.manner.speed, **clip.times()}
            with tracing.within(clip.said_in):
                await self._audience.spoken(clip.sentence.id, sound, duration_ms, self._track_sid, meta)
