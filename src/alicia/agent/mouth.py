"""Alicia's voice in a room: an answer's sentences on the agent's track, one after the other without a gap."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Final, Protocol

import structlog
from livekit import rtc
from livekit.rtc.participant import PublishTrackError, UnpublishTrackError

from alicia.agent.ahead import Ahead
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
        self._foreseen: Ahead | None = None
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
        self._opening = False
        """Nothing of this answer has been made yet."""
        self._silenced: set[str] = set()
        self._running = False
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
                log.warning("voice not published", reason=type(error).__name__)
                await asyncio.sleep(AGAIN)
        self._track_sid = publication.sid
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SUBSCRIBED):
                await publication.wait_for_subscription()
        self._audible.set()

    async def run(self) -> None:
        """Until cancelled."""
        async with self._tasks:
            self._tasks.create_task(self._open())
            self._tasks.create_task(self._make_all())
            self._tasks.create_task(self._play_all())
            self._running = True
            try:
                await asyncio.Event().wait()
            finally:
                # Who speaks with it to the last is not told that it has gone.
                self._running = False

    async def aclose(self) -> None:
        """After `run`: a frame that is still on its way when the source goes makes the SDK abort."""
        self.source.clear_queue()
        await self.source.wait_for_playout()
        if self._track_sid and self._room.isconnected():
            with contextlib.suppress(UnpublishTrackError, TimeoutError):
                async with asyncio.timeout(5):
                    await self._room.local_participant.unpublish_track(self._track_sid)
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
        if not self._silent and sentence.previous_id not in self._silenced:
            self._wanted.put_nowait((sentence, tracing.here()))

    def foresee(self, text: str, answer_id: MessageId | None = None) -> None:
        """Make the sound of what is likely to be said first, or sure to be as this answer's beginning.

        What was foreseen before is forgotten; without words, that is all.
        """
        wanted = self._synthesiser.cheap if answer_id is None else answer_id not in self._silenced
        if self._silent or not self._running or not wanted:
            return
        spoken = Reader(self._manner.language).read(text)
        if self._foreseen is not None:
            if self._foreseen.fits(spoken, self._manner):
                return
            self._foreseen.drop()
        self._foreseen = Ahead(spoken, self._manner, self._synthesiser, self._tasks) if spoken else None

    def silence(self, answer_id: MessageId) -> Reached | None:
        """Say no more of this answer, at once; how far it was heard, None if another is being said."""
        reached = self._reached(answer_id)
        saying = reached.answer_id if reached is not None else self._answer_id
        if saying == answer_id:
            return self.hush(answer_id)
        self._silenced.add(answer_id)
        return None

    def hush(self, answer_id: MessageId | None = None) -> Reached | None:
        """Be silent at once and forget what is queued; how far the answer was heard that was being said.

        With `answer_id` nothing more of that answer is said either, and what was heard of it counts though
        it was just waiting for its next sentence.
        """
        reached = self._reached(answer_id)
        if answer_id is not None:
            self._silenced.add(answer_id)
        if self._foreseen is not None:
            self._foreseen.drop()
            self._foreseen = None
        self.source.clear_queue()
        while not self._wanted.empty():
            self._wanted.get_nowait()
        while not self._clips.empty():
            self._clips.get_nowait().drop()
        if self._playing is not None:
            # It may not have begun to sound: a pause may hold it back.
            self._playing.drop()
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
        self._going.clear()
        queued = min(round(self.source.queued_duration * RATE / FRAME), len(self._recent))
        self.source.clear_queue()
        self._held = [*[self._recent.pop() for _ in range(queued)][::-1], *self._held]
        self._pushed -= queued * FRAME

    def resume(self) -> None:
        """Go on where `pause` was."""
        if self._running and not self._going.is_set():
            self._tasks.create_task(self._give_back(self._held))

    async def _give_back(self, held: list[bytes]) -> None:
        # `hush` empties it, and the next pause makes another.
        while held and held is self._held:
            await self._push(held.pop(0))
        if held is self._held:
            self._going.set()

    def _place(self) -> int:
        """How many samples have sounded so far."""
        return self._pushed - round(self.source.queued_duration * RATE)

    def _reached(self, answer_id: MessageId | None) -> Reached | None:
        """How far the answer is heard that is being said.

        One that waits for its next sentence counts when that is on its way, or when it is meant.
        """
        place = self._place()
        for start, clip in reversed(self._sounding):
            if start < place:
                sentence, heard = clip.sentence, clip.characters(place - start)
                waits = sentence.previous_id == self._answer_id and (
                    self.speaking or sentence.previous_id == answer_id
                )
                if heard == len(sentence.text) and not waits:
                    return None
                return Reached(
                    answer_id=sentence.previous_id, sentence_id=sentence.id, heard_characters=heard
                )
        return None

    # Making and playing.

    async def _make_all(self) -> None:
        while True:
            sentence, said_in = await self._wanted.get()
            if sentence.previous_id != self._answer_id:
                self._answer_id, self._reader = sentence.previous_id, Reader()
                self._opening = True
            self._reader.settle(self._manner.language)
            text = self._reader.read(sentence.text)
            if not text or sentence.previous_id in self._silenced:
                continue
            clip = Clip(sentence, text, self._manner, said_in, opens=self._opening)
            self._opening = False
            making = self._tasks.create_task(self._make(clip))
            self._making = clip, making
            await self._clips.put(clip)
            await asyncio.wait([making])
            self._making = None

    async def _make(self, clip: Clip) -> None:
        try:
            with tracing.within(clip.said_in), tracing.span("speech", sentence_id=clip.sentence.id):
                async for sound in self._sound(clip):
                    clip.add(sound)
        except ModelUnavailable as error:
            log.warning("voice failed", sentence_id=clip.sentence.id, reason=str(error))
            self._silenced.add(clip.sentence.previous_id)
            await self._audience.voiceless(clip.sentence.previous_id, error)
        finally:
            clip.end()

    def _sound(self, clip: Clip) -> AsyncGenerator[bytes, None]:
        foreseen = self._foreseen
        if foreseen is not None and foreseen.fits(clip.text, clip.manner):
            self._foreseen = None
            return foreseen.pieces()
        return self._synthesiser.speak(clip.text, clip.manner)

    async def _play_all(self) -> None:
        await self._audible.wait()
        while True:
            self._playing = await self._clips.get()
            await self._play(self._playing)
            self._playing = None

    async def _play(self, clip: Clip) -> None:
        while (frame := await clip.frame()) is not None:
            await self._going.wait()
            if clip.dropped or clip.sentence.previous_id in self._silenced:
                return
            if clip.offset == 0:
                clip.sounded_at = datetime.now(UTC)
                self._sounding.append((self._pushed, clip))
                self._tasks.create_task(self._announce(clip, self._pushed))
            clip.offset += FRAME
            await self._push(frame)

    async def _push(self, frame: bytes) -> None:
        self._recent.append(frame)
        self._pushed += FRAME
        await self.source.capture_frame(rtc.AudioFrame(frame, RATE, 1, FRAME))

    async def _announce(self, clip: Clip, start: int) -> None:
        """Have a sentence's sound stored once the first of it is heard and all of it made."""
        while not clip.dropped and (left := start - self._place()) >= 0:
            # A pause may take it back before it has sounded.
            await self._going.wait()
            await asyncio.sleep(max(left, FRAME) / RATE)
        clip.heard = clip.heard or not clip.dropped
        if not clip.heard:
            return
        sound, duration_ms = await clip.recording()
        if sound:
            meta: Map = {"model": self._synthesiser.model, "speed": clip.manner.speed, **clip.times()}
            with tracing.within(clip.said_in):
                await self._audience.spoken(clip.sentence.id, sound, duration_ms, self._track_sid, meta)
