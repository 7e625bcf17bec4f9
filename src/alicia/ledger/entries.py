"""What is appended: a body, its envelope's meta, and what belongs to its row but not on the wire."""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from alicia.protocol.messages import Body, Map
from alicia.storage.memories import NewMemory


class Private(Struct, frozen=True, kw_only=True):
    """Columns that are stored and never journaled; each kind of body has at most one kind of these."""


class Nothing(Private, frozen=True, kw_only=True):
    """Of the bodies that say all there is to store."""


class Recording(Private, frozen=True, kw_only=True):
    """Of an AudioChunk: the sound itself; unless given, the type is output for a sentence, else input."""

    data: bytes | None = None
    audio_type: Literal["input", "output"] | None = None
    meta: Map = {}


class Recalled(Private, frozen=True, kw_only=True):
    """Of a MemoryTrace: how the memory was found, and the memory itself when it is stored or updated."""

    query_prompt: str | None = None
    query_prompt_meta: Map = {}
    similarity_score: float | None = None
    position_in_results: int | None = None
    meta: Map = {}
    memory: NewMemory | None = None


class Begun(Private, frozen=True, kw_only=True):
    """Of a ToolUseRequest: whether the tool starts as soon as the request is stored."""

    running: bool = False


class Outcome(Private, frozen=True, kw_only=True):
    """Of a ToolUseResult: the whole result when the body's is cut, and whether the use was given up."""

    result: Any = None
    cancelled: bool = False


class Spoken(Private, frozen=True, kw_only=True):
    """Of an AssistantSentence: what is worth knowing about how it was made, such as timings."""

    meta: Map = {}


class Heard(Private, frozen=True, kw_only=True):
    """Of a Transcription: what is worth knowing about how it was made, such as the model."""

    transcription_meta: Map = {}


AnyPrivate: TypeAlias = Recording | Recalled | Begun | Outcome | Spoken | Heard


class Entry(Struct, frozen=True):
    """One body to append. `meta` travels in its envelope and becomes rows of `alicia_meta`."""

    body: Body
    meta: Map | None = None
    private: AnyPrivate | None = None
