"""The seventeen message types. Each names its direction, its code and its table.

`S` is the agent, `C` a client. Fields travel in camelCase; a field that is None is left out.
"""

from typing import Annotated, ClassVar, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from alicia import ids
from alicia.protocol.values import Map, Value


def _id(*kinds: object, empty: bool = False) -> Meta:
    # The length costs nothing to check, a pattern would cost more than all the rest: see `id_patterns`.
    lengths = [len(ids.PREFIXES[kind]) + 1 + ids.LENGTH for kind in kinds]
    least = 0 if empty else min(lengths)
    return Meta(min_length=least, max_length=max(lengths), extra={"kinds": kinds, "empty": empty})


ConversationId: TypeAlias = Annotated[ids.ConversationId, _id(ids.ConversationId)]
ConversationIdOrNone: TypeAlias = Annotated[ids.ConversationId, _id(ids.ConversationId, empty=True)]
MessageId: TypeAlias = Annotated[ids.MessageId, _id(ids.MessageId)]
SentenceId: TypeAlias = Annotated[ids.SentenceId, _id(ids.SentenceId)]
AudioId: TypeAlias = Annotated[ids.AudioId, _id(ids.AudioId)]
SoundId: TypeAlias = Annotated[str, _id(ids.SentenceId, ids.AudioId)]
MemoryId: TypeAlias = Annotated[ids.MemoryId, _id(ids.MemoryId)]
MemoryUseId: TypeAlias = Annotated[ids.MemoryUseId, _id(ids.MemoryUseId)]
ToolUseId: TypeAlias = Annotated[ids.ToolUseId, _id(ids.ToolUseId)]
ReasoningStepId: TypeAlias = Annotated[ids.ReasoningStepId, _id(ids.ReasoningStepId)]
NoteId: TypeAlias = Annotated[ids.NoteId, _id(ids.NoteId)]

INT32_MIN: Final = -(2**31)
INT32_MAX: Final = 2**31 - 1

StanzaId: TypeAlias = Annotated[int, Meta(ge=INT32_MIN, le=INT32_MAX)]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=INT32_MAX)]
Share: TypeAlias = Annotated[float, Meta(ge=0.0, le=1.0)]
Text: TypeAlias = Annotated[str, Meta(max_length=2**20)]
Short: TypeAlias = Annotated[str, Meta(max_length=2_000)]
Name: TypeAlias = Annotated[str, Meta(max_length=200)]

Severity: TypeAlias = Literal["info", "warning", "error", "critical"]
AnswerStatus: TypeAlias = Literal["completed", "stopped", "failed"]
StopType: TypeAlias = Literal["generation", "speech", "all"]
Execution: TypeAlias = Literal["server", "client"]
SyncStatus: TypeAlias = Literal["pending", "synced", "conflict"]
VariationMode: TypeAlias = Literal["edit", "regenerate"]
MemoryAction: TypeAlias = Literal["retrieved", "stored", "updated"]


class Body(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What an envelope carries; `CODE` is the envelope's `type`."""

    CODE: ClassVar[int]
    DYNAMIC: ClassVar[tuple[str, ...]] = ()
    """The fields that hold values of any shape."""
    ALIASES: ClassVar[dict[str, str]] = {}
    """Other spellings that are understood, and the field that each one means."""

    conversation_id: ConversationId


class ErrorMessage(Body, frozen=True, kw_only=True):
    """S→C, transient: something that the sender should know."""

    CODE: ClassVar[int] = 1

    code: Count
    message: Text
    severity: Severity
    recoverable: bool
    originating_id: Name | None = None
    originating_stanza_id: StanzaId | None = None
    next_stanza_id: StanzaId | None = None


class UserMessage(Body, frozen=True, kw_only=True):
    """C→S and echoed S→C: a row of `alicia_messages` with role 'user'."""

    CODE: ClassVar[int] = 2

    id: MessageId
    previous_id: MessageId | None = None
    content: Text
    timestamp: Name | None = None
    audio_id: AudioId | None = None
    supersedes: MessageId | None = None
    local_id: Name | None = None


class AssistantMessage(Body, frozen=True, kw_only=True):
    """S→C: completes, or creates, a row of `alicia_messages` with role 'assistant'."""

    CODE: ClassVar[int] = 3

    id: MessageId
    previous_id: MessageId
    content: Text
    status: AnswerStatus


class ControlStop(Body, frozen=True, kw_only=True):
    """C→S and echoed S→C: meta of the stopped message and sentence."""

    CODE: ClassVar[int] = 4

    target_id: MessageId
    stop_type: StopType
    reason: Short | None = None
    sentence_id: SentenceId | None = None
    heard_characters: Count | None = None


class ReasoningStep(Body, frozen=True, kw_only=True):
    """S→C: a row of `alicia_reasoning_steps`."""

    CODE: ClassVar[int] = 5

    id: ReasoningStepId
    message_id: MessageId
    sequence: Count
    content: Text


class ToolUseRequest(Body, frozen=True, kw_only=True):
    """S→C: a row of `alicia_tool_uses`, pending."""

    CODE: ClassVar[int] = 6
    DYNAMIC: ClassVar[tuple[str, ...]] = ("parameters",)

    id: ToolUseId
    message_id: MessageId
    sequence: Count
    tool_name: Name
    parameters: Map
    execution: Execution
    device: Name | None = None
    timeout_ms: Count | None = None


class ToolUseResult(Body, frozen=True, kw_only=True):
    """S→C, and C→S for client tools: closes its request's row of `alicia_tool_uses`."""

    CODE: ClassVar[int] = 7
    DYNAMIC: ClassVar[tuple[str, ...]] = ("result",)

    request_id: ToolUseId
    success: bool
    result: Value = None
    error_code: Count | None = None
    error_message: Text | None = None
    truncated: bool | None = None


class Acknowledgement(Body, frozen=True, kw_only=True):
    """S→C, transient: what was stored, and where the agent's log ends."""

    CODE: ClassVar[int] = 8

    acknowledged_stanza_id: StanzaId
    last_server_stanza_id: StanzaId
    id: Name | None = None
    server_id: Name | None = None
    sync_status: SyncStatus | None = None


class Transcription(Body, frozen=True, kw_only=True):
    """S→C, durable when final: the transcription of a row of `alicia_audio`."""

    CODE: ClassVar[int] = 9

    id: AudioId
    previous_id: MessageId | None = None
    text: Text
    final: bool
    confidence: Share | None = None
    language: Name | None = None
    track_sid: Name | None = None


class AudioChunk(Body, frozen=True, kw_only=True):
    """S→C as metadata, C→S as a recorded clip: a sentence's audio, or a row of `alicia_audio`."""

    CODE: ClassVar[int] = 10
    ALIASES: ClassVar[dict[str, str]] = {"duration": "durationMs"}

    id: SoundId
    message_id: MessageId | None = None
    track_sid: Name | None = None
    format: Name
    duration_ms: Count
    sequence: Count | None = None
    is_last: bool | None = None
    data: bytes | None = None


class ControlVariation(Body, frozen=True, kw_only=True):
    """C→S and echoed S→C: a new branch; `superseded_by` of what it replaces."""

    CODE: ClassVar[int] = 11

    id: MessageId
    target_id: MessageId
    mode: VariationMode
    content: Text | None = None


class Configuration(Body, frozen=True, kw_only=True):
    """Both ways, transient: opens or resumes a row of `alicia_conversations`."""

    CODE: ClassVar[int] = 12
    DYNAMIC: ClassVar[tuple[str, ...]] = ("preferences", "tools")

    conversation_id: ConversationIdOrNone = ids.ConversationId("")
    last_sequence_seen: StanzaId | None = None
    client_version: Name | None = None
    preferred_language: Name | None = None
    device: Name | None = None
    features: list[Name] | None = None
    preferences: Map | None = None
    tools: list[Map] | None = None
    resumed: bool | None = None
    missed: Count | None = None
    last_client_stanza_id: StanzaId | None = None
    last_server_stanza_id: StanzaId | None = None
    title: Short | None = None
    status: Name | None = None


class StartAnswer(Body, frozen=True, kw_only=True):
    """S→C: a row of `alicia_messages` with role 'assistant', streaming."""

    CODE: ClassVar[int] = 13

    id: MessageId
    previous_id: MessageId
    answer_type: Name | None = None
    supersedes: MessageId | None = None


class MemoryTrace(Body, frozen=True, kw_only=True):
    """S→C: a row of `alicia_memory_used`."""

    CODE: ClassVar[int] = 14
    DYNAMIC: ClassVar[tuple[str, ...]] = ("metadata",)
    ALIASES: ClassVar[dict[str, str]] = {"messageId": "previousId", "relevance": "confidence"}

    id: MemoryUseId
    previous_id: MessageId
    memory_id: MemoryId
    memory_type: Name | None = None
    action: MemoryAction
    content: Text
    confidence: Share | None = None
    metadata: Map | None = None


class UserNote(Body, frozen=True, kw_only=True):
    """C→S and echoed S→C: a row of `alicia_user_conversation_commentaries`."""

    CODE: ClassVar[int] = 15
    DYNAMIC: ClassVar[tuple[str, ...]] = ("metadata",)

    id: NoteId
    message_id: MessageId | None = None
    content: Text
    note_type: Name | None = None
    metadata: Map | None = None


class AssistantSentence(Body, frozen=True, kw_only=True):
    """S→C: a row of `alicia_sentences`; the final one completes its message."""

    CODE: ClassVar[int] = 16

    id: SentenceId
    previous_id: MessageId
    sequence: Count
    text: Text
    is_final: bool
    status: AnswerStatus | None = None


class Erasure(Body, frozen=True, kw_only=True):
    """S→C: what these ids held is gone."""

    CODE: ClassVar[int] = 17

    ids: Annotated[list[Name], Meta(max_length=100_000)]


class Tombstone(Struct, frozen=True, kw_only=True, rename="camel"):
    """What is left of a durable body of any type once its content is erased; the envelope keeps the type."""

    id: Name
    erased: Literal[True] = True


BODIES: Final[dict[int, type[Body]]] = {kind.CODE: kind for kind in Body.__subclasses__()}
"""Every message type by its code."""

TRANSIENT: Final[frozenset[type[Body]]] = frozenset({ErrorMessage, Acknowledgement, Configuration})
"""The types that are never stored; a Transcription is stored when it is final."""

FROM_CLIENT: Final[frozenset[type[Body]]] = frozenset(
    {UserMessage, ControlStop, ToolUseResult, AudioChunk, ControlVariation, Configuration, UserNote}
)
"""The types that an agent obeys."""


def fields(body: Body) -> Map:
    """The body's fields by their Python (and column-like) names, None where absent."""
    return msgspec.structs.asdict(body)


def subject(body: Body) -> str | None:
    """The id that the body is about: its own, or else its request's or its target's."""
    for name in ("id", "request_id", "target_id"):
        value: str | None = getattr(body, name, None)
        if value is not None:
            return value
    return None
