"""What a text-to-speech model is asked."""

from collections.abc import AsyncGenerator
from typing import Final, Protocol

import msgspec

RATE: Final = 24_000
"""Samples a second, everywhere that speech is made: one channel of 16 bits."""
SPEEDS: Final = (0.5, 2.0)


class Manner(msgspec.Struct, frozen=True, kw_only=True):
    """How to speak. A voice or a language that a model does not have is replaced by its own."""

    voice: str | None = None
    speed: float = 1.0
    language: str | None = None


class Synthesiser(Protocol):
    """A text-to-speech model."""

    @property
    def model(self) -> str:
        """Its name, as it is stored beside what it said."""
        ...

    @property
    def cheap(self) -> bool:
        """Whether sound may be made that perhaps nobody will hear."""
        ...

    def speak(self, text: str, manner: Manner) -> AsyncGenerator[bytes, None]:
        """Sound as soon as there is any, in whole samples; ModelUnavailable says why there is no more."""
        ...
