"""What the engine asks of a voice."""

from typing import Protocol

import msgspec

from alicia.ids import MessageId, SentenceId
from alicia.protocol.messages import AssistantSentence
from alicia.protocol.values import Map


class Reached(msgspec.Struct, frozen=True, kw_only=True):
    """How far an answer was heard: the sentence that sounded last, and how many of its characters."""

    answer_id: MessageId
    sentence_id: SentenceId
    heard_characters: int


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation's preferences, as far as they are about speech."""

    voice: str | None = None
    speed: float = 1.0
    language: str | None = None
    mute: bool = False
    recording: bool = True
    """Whether what is said is kept as sound, too."""

    @classmethod
    def of(cls, preferences: Map) -> "Wishes":
        """What can be understood of preferences that anybody may have written."""
        voice, speed, language = (preferences.get(name) for name in ("voice", "speed", "language"))
        return cls(
            voice=voice if isinstance(voice, str) else None,
            speed=float(speed) if isinstance(speed, int | float) and 0.25 <= speed <= 4 else 1.0,
            language=language if isinstance(language, str) else None,
            mute=preferences.get("mute") is True,
            recording=preferences.get("recording") is not False,
        )


class Voice(Protocol):
    """Says sentences aloud, in order. Nothing here waits for the sound."""

    @property
    def speaking(self) -> bool:
        """Whether something sounds, or is about to."""
        ...

    def settle(self, wishes: Wishes, *, listening: bool) -> None:
        """How to speak from now on, and whether anybody listens."""
        ...

    def say(self, sentence: AssistantSentence) -> None:
        """Queue a sentence; one that nobody would hear is forgotten."""
        ...

    def foresee(self, text: str, answer_id: MessageId | None = None) -> None:
        """This is likely to be said next, or nothing is: its sound may be made, but not be heard yet.

        With `answer_id` it is sure: that answer begins so, as soon as it is stored.
        """
        ...

    def hush(self, answer_id: MessageId | None = None) -> Reached | None:
        """Be silent at once and forget what is queued; how far the answer was heard that was being said.

        With `answer_id` nothing more of that answer is said either, and what was heard of it counts though
        it was just waiting for its next sentence.
        """
        ...

    def silence(self, answer_id: MessageId) -> Reached | None:
        """Say no more of this answer, at once; how far it was heard, None if another is being said."""
        ...

    def pause(self) -> None:
        """Be silent at once, but remember where."""
        ...

    def resume(self) -> None:
        """Go on where `pause` was."""
        ...


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """What is said in a recording; the text is empty when nothing is."""

    text: str
    confidence: float | None = None
    language: str | None = None
    model: str = ""


class Transcriber(Protocol):
    """Hears recordings."""

    async def transcribe(self, sound: bytes, language: str | None) -> Transcript | None:
        """What is said in a file of sound, None if it is no such file; or ModelUnavailable."""
        ...


class Mute:
    """The voice where there is none."""

    speaking = False

    def settle(self, wishes: Wishes, *, listening: bool) -> None:
        """There is nothing to settle."""

    def say(self, sentence: AssistantSentence) -> None:
        """Nobody is there to hear it."""

    def foresee(self, text: str, answer_id: MessageId | None = None) -> None:
        """Nobody will hear it."""

    def hush(self, answer_id: MessageId | None = None) -> Reached | None:
        return None

    def silence(self, answer_id: MessageId) -> Reached | None:
        return None

    def pause(self) -> None:
        """It is silent."""

    def resume(self) -> None:
        """It stays silent."""
