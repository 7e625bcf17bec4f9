"""Identifiers: a prefix that names the entity, an underscore, and a 21-character NanoID."""

import re
import secrets
from collections.abc import Callable
from typing import Final, NewType, TypeVar

from alicia.errors import InvalidId

ConversationId = NewType("ConversationId", str)
MessageId = NewType("MessageId", str)
SentenceId = NewType("SentenceId", str)
AudioId = NewType("AudioId", str)
MemoryId = NewType("MemoryId", str)
MemoryUseId = NewType("MemoryUseId", str)
ToolId = NewType("ToolId", str)
ToolUseId = NewType("ToolUseId", str)
ReasoningStepId = NewType("ReasoningStepId", str)
NoteId = NewType("NoteId", str)
MetaId = NewType("MetaId", str)

PREFIXES: Final[dict[object, str]] = {
    ConversationId: "ac",
    MessageId: "am",
    SentenceId: "ams",
    AudioId: "aa",
    MemoryId: "amem",
    MemoryUseId: "amu",
    ToolId: "at",
    ToolUseId: "atu",
    ReasoningStepId: "ar",
    NoteId: "aucc",
    MetaId: "amt",
}
ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
LENGTH: Final = 21

T = TypeVar("T")


def pattern(*kinds: object) -> str:
    """The regular expression that an id of one of these kinds, and nothing else, matches in full."""
    return f"(?:{'|'.join(PREFIXES[kind] for kind in kinds)})_[A-Za-z0-9_-]{{{LENGTH}}}"


_PATTERNS: Final = {kind: re.compile(pattern(kind)) for kind in PREFIXES}


def new(kind: Callable[[str], T]) -> T:
    """A fresh random id: 126 bits, so no two are ever the same."""
    random = int.from_bytes(secrets.token_bytes(16))
    letters = [ALPHABET[random >> shift & 63] for shift in range(0, 6 * LENGTH, 6)]
    return kind(f"{PREFIXES[kind]}_{''.join(letters)}")


def parse(kind: Callable[[str], T], text: object) -> T:
    """Take an id that came from outside, or say what was expected and what came."""
    if isinstance(text, str) and _PATTERNS[kind].fullmatch(text):
        return kind(text)
    expected = f"{PREFIXES[kind]}_ and {LENGTH} characters of A-Z a-z 0-9 _ -"
    raise InvalidId(f"expected {expected}, got {text!r:.60}")
