"""The spoken side of a conversation: what is heard becomes a message, what is said aloud becomes sound."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec
import structlog

from alicia import ids
from alicia.engine.answers import Answers
from alicia.engine.broadcast import Broadcast
from alicia.engine.guess import Guesses
from alicia.engine.history import History
from alicia.engine.voice import Mute, Reached, Voice, Wishes
from alicia.errors import ErrorCode, ModelUnavailable
from alicia.ledger.entries import Entry, Heard, Recording
from alicia.protocol.messages import (
    AssistantSentence,
    AudioChunk,
    ControlStop,
    ErrorMessage,
    Transcription,
    UserMessage,
)
from alicia.protocol.values import Map
from alicia.telemetry import tracing

log = structlog.get_logger(__name__)

FORMAT: Final = "audio/ogg; codecs=opus"
INTERRUPTED: Final = "interrupted"
"""The reason of a ControlStop that nobody asked for: somebody spoke."""
SETTLED: Final = 4.0
"""Seconds after the last word when nobody is believed to speak any more."""
PLACES: Final = 1_000
PATIENCE: Final = 2.0
"""Seconds that an answer which was interrupted has to close."""


class Utterance(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was said, or is being said."""

    audio_id: ids.AudioId
    text: str
    confidence: float | None = None
    language: str | None = None
    track_sid: str | None = None
    duration_ms: int = 0
    model: str = ""
    took: float = 0.0
    """Seconds that its text took to be recognised."""
    known_at: datetime | None = None
    """When its words were known."""
    sure_at: datetime | None = None
    """When it was sure that nothing more follows."""
    device: str | None = None
    """The identity of the device that heard it."""


class Talk:
    """Between the room's ears and mouth and the engine."""

    def __init__(
        self,
        line: Broadcast,
        history: History,
        answers: Answers,
        guesses: Guesses,
        quiet: asyncio.Event,
        disturb: Callable[[], None],
    ) -> None:
        """`quiet` is set while nobody speaks; `disturb` is called when somebody begins to."""
        self.owner: str | None = None
        """Whose microphones may be heard."""
        self.wanted = asyncio.Event()
        """Somebody wants to hear, or to be heard."""
        self.wishes = Wishes()
        self.listening = False
        """A device wants to hear what is said."""
        self._line = line
        self._history = history
        self._answers = answers
        self._guesses = guesses
        self._quiet = quiet
        self._quiet.set()
        self._disturb = disturb
        self._settling: asyncio.TimerHandle | None = None
        self._noticed_at: datetime | None = None
        """When somebody began to talk into what she says, as far as can be told."""
        self._voice: Voice = Mute()
        guesses.foresee = self._foresee
        self._answer_id: ids.MessageId | None = None
        self._places: dict[str, int] = {}
        """Where in its answer each of the newest sentences begins."""
        self._silenced: str | None = None
        """The newest answer whose sound was stopped; the stop has told how far it was heard."""
        self._length = 0

    def lend(self, voice: Voice) -> None:
        """Speak with this voice from now on."""
        self._voice = voice
        self._voice.settle(self.wishes, listening=self.listening)

    def settle(
        self, *, owner: str | None = None, preferences: Map | None = None, listening: bool | None = None
    ) -> None:
        """Take note of what has changed."""
        self.owner = owner or self.owner
        if preferences is not None:
            self.wishes = Wishes.of(preferences)
        if listening is not None:
            self.listening = listening
        if self.listening:
            self.wanted.set()
        self._voice.settle(self.wishes, listening=self.listening)

    @property
    def speaking(self) -> bool:
        """Alicia speaks, or thinks of what to say aloud."""
        answering = self.listening and not self.wishes.mute and self._answers.running is not None
        return self._voice.speaking or answering

    # What she says.

    def say(self, sentence: AssistantSentence) -> None:
        """A sentence is stored: it may be said."""
        if sentence.previous_id != self._answer_id:
            self._answer_id, self._length = sentence.previous_id, 0
        self._places[sentence.id] = self._length
        if len(self._places) > PLACES:
            del self._places[next(iter(self._places))]
        self._length += len(sentence.text)
        if sentence.text.strip():
            self._voice.say(sentence)

    async def spoken(
        self, sentence_id: ids.SentenceId, sound: bytes, duration_ms: int, track_sid: str, meta: Map
    ) -> None:
        """A sentence has begun to sound; this is all of it."""
        chunk = AudioChunk(
            conversation_id=self._line.session.conversation_id,
            id=sentence_id,
            track_sid=track_sid,
            format=FORMAT,
            duration_ms=duration_ms,
        )
        await self._line.emit(Entry(chunk, private=Recording(data=sound, meta=meta)))

    async def voiceless(self, answer_id: ids.MessageId, error: ModelUnavailable) -> None:
        """The rest of this answer cannot be heard."""
        await self._tell_failure(f"{error} The answer goes on in writing.", answer_id)

    # What she hears.

    def stir(self) -> None:
        """Somebody speaks: whatever else the model is used for can wait until they have been answered."""
        if self._quiet.is_set():
            self._quiet.clear()
            self._disturb()
        if self._settling is not None:
            self._settling.cancel()
        self._settling = asyncio.get_running_loop().call_later(SETTLED, self._quiet.set)

    def pause(self) -> None:
        """Somebody may want to say something."""
        self._noticed_at = datetime.now(UTC)
        self._voice.pause()

    def resume(self) -> None:
        """It was nothing."""
        self._noticed_at = None
        self._voice.resume()

    def guess(self, text: str, device: str | None) -> None:
        """This is most likely all that is being said: the answer may begin, in secret."""
        if self._answers.idle.is_set() and not self._voice.speaking and not self._history.stale:
            self._guesses.suppose(text, device)

    def foresee(self, sentence: AssistantSentence) -> None:
        """An answer begins with this sentence as soon as that is stored."""
        self._voice.foresee(sentence.text, sentence.previous_id)

    def _foresee(self, text: str) -> None:
        self._voice.foresee(text)

    async def overhear(self, utterance: Utterance) -> None:
        """Show what is being said, as far as it is known."""
        self.stir()
        await self._line.tell_all(self._transcription(utterance, final=False))

    async def hear(self, utterance: Utterance, recording: bytes) -> None:
        """Something was said: that is a message, and its sound is kept unless the user does not want it."""
        if self.speaking:
            await self.interrupt()
        async with self._answers.placing:
            await self._place(utterance, recording)

    async def _place(self, utterance: Utterance, recording: bytes) -> None:
        begun = self._guesses.take(utterance.text)
        message = UserMessage(
            conversation_id=self._line.session.conversation_id,
            id=ids.new(ids.MessageId) if begun is None else begun.question.message_id,
            previous_id=self._answers.tip(),
            content=utterance.text,
            audio_id=utterance.audio_id,
        )
        heard = Heard(transcription_meta=_made(utterance))
        entries = [Entry(self._transcription(utterance, final=True), private=heard), Entry(message)]
        if recording and self.wishes.recording:
            chunk = AudioChunk(
                conversation_id=message.conversation_id,
                id=utterance.audio_id,
                message_id=message.id,
                track_sid=utterance.track_sid,
                format=FORMAT,
                duration_ms=utterance.duration_ms,
            )
            entries.append(Entry(chunk, private=Recording(data=recording)))
        with tracing.turn("message", conversation_id=message.conversation_id, message_id=message.id):
            tracing.past("transcription", utterance.took, audio_id=utterance.audio_id)
            await self._line.emit(*entries)
            self._answers.hear(message, utterance.device, begun)

    async def hear_nothing(self, utterance: Utterance) -> None:
        """Nothing is said in a recording: it has its transcription, but there is no message."""
        heard = Heard(transcription_meta=_made(utterance))
        await self._line.emit(Entry(self._transcription(utterance, final=True), private=heard))

    async def unreadable(self, audio_id: str) -> None:
        """A recording is no sound."""
        text = "This recording cannot be read: send Ogg Opus, WebM or WAV."
        await self._tell_failure(text, audio_id, ErrorCode.INVALID_FIELD)

    async def deaf(self, error: ModelUnavailable) -> None:
        """Something was said that nobody could make out."""
        await self._tell_failure(f"{error} What was said is lost: say it again, or write.", None)

    async def interrupt(self) -> None:
        """Somebody talks into the answer: be silent, stop it, and remember what was heard of it."""
        running = self._answers.running
        reached = self._voice.hush(running)
        stops = [self._cut(reached.answer_id, reached)] if reached is not None else []
        if running is not None:
            self._answers.stop(running)
            if reached is None or reached.answer_id != running:
                stops.append(self._cut(running, None))
            self._silenced = running
        noticed, self._noticed_at = self._noticed_at or datetime.now(UTC), None
        if not stops:
            return
        await self._line.emit(*(Entry(stop, {"noticedAt": noticed.isoformat()}) for stop in stops))
        try:
            # What is said next hangs on the answer that it interrupts, so that must have ended.
            async with asyncio.timeout(PATIENCE):
                await self._answers.idle.wait()
        except TimeoutError:
            log.warning("interrupted answer goes on", message_id=running)

    def stopped(self, stop: ControlStop) -> ControlStop:
        """A device wants silence: at once, and what is stored of it tells how much was heard.

        What is said of another answer goes on.
        """
        meant = self._answers.answer_to(stop.target_id)
        answer_id = self._history.answer_to(meant) or meant
        over = answer_id != self._answers.running and not self._voice.speaking
        if stop.stop_type == "generation" or over:
            return stop
        reached, self._silenced = self._voice.silence(answer_id), answer_id
        if reached is None or stop.sentence_id is not None:
            return stop
        if stop.stop_type == "all":
            self._remember(reached.answer_id, reached)
        return msgspec.structs.replace(
            stop, sentence_id=reached.sentence_id, heard_characters=reached.heard_characters
        )

    def forget(self, erased: Sequence[str]) -> None:
        """What was erased is said no further; a conversation's id means all of it."""
        if self._line.session.conversation_id in erased:
            self._voice.hush(self._answer_id)
        for each in erased:
            if each.startswith("am_"):
                self._voice.silence(ids.MessageId(each))

    def _remember(self, answer_id: str, reached: Reached | None) -> None:
        heard = self._places.get(reached.sentence_id, 0) + reached.heard_characters if reached else 0
        self._history.hear_only(answer_id, heard)

    def _cut(self, target: ids.MessageId, reached: Reached | None) -> ControlStop:
        """An answer is heard so far and no further; one that was silent before is not cut again."""
        silent = reached is None and target == self._silenced
        if not silent:
            self._remember(target, reached)
        return ControlStop(
            conversation_id=self._line.session.conversation_id,
            target_id=target,
            stop_type="all",
            reason=INTERRUPTED,
            sentence_id=reached.sentence_id if reached else None,
            heard_characters=reached.heard_characters if reached else None if silent else 0,
        )

    def _transcription(self, utterance: Utterance, *, final: bool) -> Transcription:
        return Transcription(
            conversation_id=self._line.session.conversation_id,
            id=utterance.audio_id,
            text=utterance.text,
            final=final,
            confidence=utterance.confidence,
            language=utterance.language,
            track_sid=utterance.track_sid,
        )

    async def _tell_failure(
        self, message: str, originating_id: str | None, code: ErrorCode = ErrorCode.UNAVAILABLE
    ) -> None:
        await self._line.tell_all(
            ErrorMessage(
                conversation_id=self._line.session.conversation_id,
                code=code,
                message=message,
                severity="warning",
                recoverable=True,
                originating_id=originating_id,
            )
        )


def _made(utterance: Utterance) -> Map:
    """By which model it was transcribed, and what of the user's wait that was; for the operator."""
    times = {"knownAt": utterance.known_at, "sureAt": utterance.sure_at}
    told: Map = {name: at.isoformat() for name, at in times.items() if at is not None}
    if utterance.took:
        told["tookMs"] = round(utterance.took * 1000)
    return {"model": utterance.model, **told} if utterance.model else told
