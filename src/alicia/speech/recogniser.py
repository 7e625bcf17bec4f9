"""What a speech-to-text model is asked, and which of its answers are believed."""

import re
from typing import Final, Protocol

import msgspec

from alicia.speech.segments import Samples

SHORT: Final = 0.45
"""Seconds of sound below which only a word that people do say alone is believed."""

_INVENTED: Final = frozenset({"", "you", "you you", "thank you for watching"})
"""What models hear in noise."""
_WORDS: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


class Heard(msgspec.Struct, frozen=True):
    """A piece of speech as text. `confidence` is None where the model tells none."""

    text: str
    confidence: float | None = None
    language: str | None = None


class Recogniser(Protocol):
    """A speech-to-text model for pieces of a few seconds."""

    @property
    def model(self) -> str:
        """Its name, as it is stored beside what it heard."""
        ...

    @property
    def quick(self) -> bool:
        """Whether it may be asked twice a second, while somebody still speaks."""
        ...

    @property
    def busy(self) -> bool:
        """Whether others wait for it already."""
        ...

    async def recognise(self, samples: Samples, language: str | None = None) -> Heard:
        """What was said in samples of 16 kHz; ModelUnavailable when there is no telling."""
        ...


def words(text: str) -> list[str]:
    """The words of a text, lower-case, without punctuation."""
    return _WORDS.findall(text.lower())


_ALONE: Final = frozenset(
    words(
        "yes yeah yep yup no nope nah ok okay sure right stop wait hi hey hello bye thanks thank you why "
        "what who when where how which go more again next back one two three four five six seven eight nine "
        "ten please sorry maybe good great fine cool true false left up down on off help continue alicia mhm "
        "hmm uh-huh"
    )
)


def credible(text: str, seconds: float) -> bool:
    """Whether a model's text for so many seconds of sound was said, and not made up from noise."""
    said = words(text)
    if " ".join(said) in _INVENTED:
        return False
    return seconds >= SHORT or all(word in _ALONE for word in said)
