"""Hears one microphone: LiveKit's AgentSession decides when somebody speaks and when they have finished."""

import asyncio
from collections.abc import AsyncIterable, Callable
from datetime import UTC, datetime
from typing import Final, Protocol

import structlog
from livekit import rtc
from livekit.agents import Agent, AgentSession, ModelSettings, StopResponse, inference, llm, stt
from livekit.agents.voice import UserStateChangedEvent, io
from livekit.agents.voice.events import ErrorEvent
from msgspec.structs import replace

from alicia import ids
from alicia.agent.tape import RATE, Tape
from alicia.engine.talk import Utterance
from alicia.errors import ModelUnavailable, StandDown
from alicia.speech.backchannel import is_backchannel
from alicia.speech.listener import Listener
from alicia.speech.turn_end import USUAL, ending, heed
from alicia.speech.turn_sound import TurnDetector

log = structlog.get_logger(__name__)

FRAME_MS: Final = 50
REAL_SPEECH: Final = 0.5
"""Seconds of voice over Alicia's own that make her wait, words or not: coughs and "mhm" are shorter."""
AFTERWARDS: Final = 0.7
"""Seconds of silence after a false alarm until she goes on: the words, if any, are mostly known by then."""
LOOK_AGAIN: Final = 0.1
"""Seconds until it is asked again whether words that are being made out are known."""
SILENCE: Final = rtc.AudioFrame(bytes(2 * RATE * FRAME_MS // 1000), RATE, 1, RATE * FRAME_MS // 1000)
STALLED: Final = 0.3
"""Seconds without a frame after which a microphone counts as muted."""
WORDLESS: Final = 6.0
"""Seconds after speech when no words can come of it any more, unless a server is still at work on them."""
FAREWELL: Final = 3.0
"""Seconds that are listened on when a microphone has gone, and when the last words are known: a turn ends."""


class Mind(Protocol):
    """Whom the ear tells what it hears."""

    @property
    def speaking(self) -> bool:
        """Whether Alicia speaks, or is about to."""
        ...

    def stir(self) -> None:
        """Somebody speaks."""
        ...

    def pause(self) -> None:
        """Somebody may want to say something."""
        ...

    def resume(self) -> None:
        """It was nothing."""
        ...

    def guess(self, text: str, device: str | None) -> None:
        """This is what is said most likely, if nothing follows; nothing, when it is empty."""
        ...

    async def interrupt(self) -> None:
        """Somebody talks into what Alicia says."""
        ...

    async def overhear(self, utterance: Utterance) -> None:
        """What is being said, not yet sure."""
        ...

    async def hear(self, utterance: Utterance, recording: bytes) -> None:
        """What was said."""
        ...

    async def deaf(self, error: ModelUnavailable) -> None:
        """Something was said that nobody could make out."""
        ...


class Microphone(io.AudioInput):
    """A track as the session's input; when it ends there is silence."""

    def __init__(self, stream: rtc.AudioStream, tape: Tape, ended: asyncio.Event) -> None:
        super().__init__(label="microphone")
        self.ended = ended
        self._stream = stream
        self._stalled = False
        self._tape = tape

    async def __anext__(self) -> rtc.AudioFrame:
        if not self.ended.is_set():
            try:
                # One that is muted may give nothing at all, but only silence tells that a turn is over.
                async with asyncio.timeout(FRAME_MS / 1000 if self._stalled else STALLED):
                    frame = (await self._stream.__anext__()).frame
                self._stalled = False
                self._tape.write(bytes(frame.data))
                return frame
            except TimeoutError:
                self._stalled = True
                return SILENCE
            except StopAsyncIteration:
                self.ended.set()
        await asyncio.sleep(FRAME_MS / 1000)
        return SILENCE


class Ear(Agent):
    """Hears; never answers by itself. `run` lives as long as the track."""

    def __init__(self, track: rtc.RemoteTrack, device: str, listener: Listener, mind: Mind) -> None:
        super().__init__(instructions="")  # pyright: ignore[reportUnknownMemberType]
        self._track = track
        self._device = device
        self._listener = listener
        self._mind = mind
        self._tape = Tape()
        self._ended = asyncio.Event()
        self._audio_id = ids.new(ids.AudioId)
        self._heard = ""
        """What is sure of the turn so far."""
        self._newest = ""
        """What is known of the turn, sure or not, and since when."""
        self._known_at: datetime | None = None
        self._language: str | None = None
        self._has_words = False
        self._early = ""
        """What is sure of a turn that has ended before its last words were known."""
        self._interrupting: asyncio.Task[None] | None = None
        self._timers: list[asyncio.TimerHandle] = []
        self._overheard: asyncio.Queue[Utterance] = asyncio.Queue()
        self._tasks = asyncio.TaskGroup()

    def end(self) -> None:
        """The track is gone, though the SDK goes on to make up sound for it for a while."""
        self._ended.set()

    async def run(self) -> bool:
        """Until the track ends; False if something broke before that."""
        try:
            await self._listen()
        except* StandDown:
            raise
        except* Exception:
            # It may end this ear, but neither the others nor the voice.
            log.exception("listening failed", track_sid=self._track.sid)
        # Nothing that made her wait can tell any more that it was nothing.
        self._mind.resume()
        return self._ended.is_set()

    async def _listen(self) -> None:
        session = self._session()
        stream = rtc.AudioStream.from_track(
            track=self._track, sample_rate=RATE, num_channels=1, frame_size_ms=FRAME_MS
        )
        microphone = Microphone(stream, self._tape, self._ended)
        # Else the job keeps every session until the room is left, to close it then; `run` closes it.
        session._job_context_cb_registered = True  # pyright: ignore[reportPrivateUsage]
        session.input.audio = microphone
        session.on("user_state_changed", self._state)  # pyright: ignore[reportUnknownMemberType]
        session.on("error", self._failed)  # pyright: ignore[reportUnknownMemberType]
        broken = asyncio.Event()
        session.on("close", lambda _: broken.set())  # pyright: ignore
        try:
            async with self._tasks:
                telling = self._tasks.create_task(self._tell())
                await session.start(self, record=False)  # pyright: ignore[reportUnknownMemberType]
                log.info("listening", track_sid=self._track.sid)
                ends = [asyncio.create_task(each.wait()) for each in (microphone.ended, broken)]
                try:
                    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for end in ends:
                        end.cancel()
                if not broken.is_set():
                    await self._farewell()
                if self._early:
                    await self._conclude(self._early)
                telling.cancel()
        finally:
            self._set_timers()
            try:
                await session.aclose()
            finally:
                await stream.aclose()

    def _session(self) -> AgentSession[None]:
        return AgentSession(
            stt=self._listener,
            vad=inference.VAD(),
            turn_handling={
                "turn_detection": TurnDetector(),
                "endpointing": USUAL,
                "interruption": {"mode": "vad", "resume_false_interruption": False},
                "preemptive_generation": {"enabled": False},
            },
            aec_warmup_duration=None,
            user_away_timeout=None,
            session_close_transcript_timeout=0.0,
        )

    async def _farewell(self) -> None:
        """Listen on until the last turn has ended."""
        await asyncio.sleep(FAREWELL)
        if self._listener.looking:
            await self._listener.settled()
            await asyncio.sleep(FAREWELL)

    async def _tell(self) -> None:
        """What is overheard is told in order, and only the newest of it."""
        told: Utterance | None = None
        while True:
            utterance = await self._overheard.get()
            if self._overheard.empty() and utterance != told:
                await self._mind.overhear(utterance)
                told = utterance

    # What the session tells.

    async def stt_node(
        self, audio: AsyncIterable[rtc.AudioFrame], model_settings: ModelSettings
    ) -> AsyncIterable[stt.SpeechEvent]:
        async for event in Agent.default.stt_node(self, audio, model_settings):
            self._recognised(event)
            heed(self.session, event)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
            yield event

    def _recognised(self, event: stt.SpeechEvent) -> None:
        data = event.alternatives[0]
        text = f"{self._heard} {data.text}".strip()
        self._language = str(data.language) or self._language
        if event.type == stt.SpeechEventType.FINAL_TRANSCRIPT:
            self._heard = text
        if not data.text:
            if event.type == stt.SpeechEventType.FINAL_TRANSCRIPT:
                self._fall_back()
            return
        if text != self._newest:
            self._newest, self._known_at = text, datetime.now(UTC)
        self._has_words = True
        self._overheard.put_nowait(self._utterance(text))
        if self._mind.speaking and not is_backchannel(text):
            self._interrupt()
        if event.type != stt.SpeechEventType.INTERIM_TRANSCRIPT or (
            self._listener.faded and ending(text) != "open"
        ):
            self._mind.guess(text, self._device)

    def _fall_back(self) -> None:
        """Nothing came of the newest words: only what was sure before them is said."""
        self._newest = self._heard
        self._has_words = bool(self._heard)
        self._mind.guess(self._heard, self._device)
        if self._early and not self._listener.concluding:
            early, self._early = self._early, ""
            self._tasks.create_task(self._conclude(early))

    def _state(self, event: UserStateChangedEvent) -> None:
        if event.new_state == "speaking":
            self._mind.stir()
            self._tape.start()
            self._set_timers((REAL_SPEECH, self._wait))
        else:
            self._set_timers(
                (AFTERWARDS, lambda: self._when_known(self._mind.resume)),
                (WORDLESS, self._mind.resume),
                (WORDLESS, lambda: self._when_known(self._forget)),
            )

    def _set_timers(self, *timers: tuple[float, Callable[[], None]]) -> None:
        for timer in self._timers:
            timer.cancel()
        loop = asyncio.get_running_loop()
        self._timers = [loop.call_later(seconds, what) for seconds, what in timers]

    def _when_known(self, what: Callable[[], None]) -> None:
        """Do this as soon as no words are being made out."""
        if self._listener.looking:
            loop = asyncio.get_running_loop()
            self._timers.append(loop.call_later(LOOK_AGAIN, self._when_known, what))
        else:
            what()

    def _wait(self) -> None:
        if self._mind.speaking:
            self._mind.pause()

    def _forget(self) -> None:
        """It was a noise: what was taken of it is no part of what is said next."""
        if not self._has_words:
            self._tape.take()

    def _interrupt(self) -> None:
        if self._interrupting is None or self._interrupting.done():
            self._interrupting = self._tasks.create_task(self._mind.interrupt())

    async def on_user_turn_completed(self, turn_ctx: llm.ChatContext, new_message: llm.ChatMessage) -> None:
        text = f"{self._early} {(new_message.text_content or '').strip()}".strip()
        if self._listener.concluding:
            # The session does not wait for words that are still being made out, but they belong to this turn.
            self._early = text
        else:
            await self._conclude(text, new_message.transcript_confidence)
        raise StopResponse

    async def _conclude(self, text: str, confidence: float | None = None) -> None:
        """All of a turn is known."""
        sure_at = datetime.now(UTC)
        recording, duration_ms = self._tape.take()
        utterance = replace(
            self._utterance(text, confidence or None, duration_ms), known_at=self._known_at, sure_at=sure_at
        )
        self._heard = self._newest = self._early = ""
        self._has_words, self._audio_id = False, ids.new(ids.AudioId)
        while not self._overheard.empty():
            self._overheard.get_nowait()
        if self._interrupting is not None:
            await asyncio.wait([self._interrupting])
        if text and not (self._mind.speaking and is_backchannel(text)):
            await self._mind.hear(utterance, recording)
        else:
            self._mind.guess("", self._device)

    def _utterance(self, text: str, confidence: float | None = None, duration_ms: int = 0) -> Utterance:
        return Utterance(
            audio_id=self._audio_id,
            text=text,
            language=self._language,
            track_sid=self._track.sid,
            model=self._listener.model,
            device=self._device,
            confidence=confidence,
            duration_ms=duration_ms,
            took=self._listener.took,
        )

    def _failed(self, event: ErrorEvent) -> None:
        error = getattr(event.error, "error", event.error)
        if isinstance(error, ModelUnavailable):
            self._fall_back()
            self._tasks.create_task(self._mind.deaf(error))
        else:
            log.warning("ear failed", reason=type(error).__name__)
