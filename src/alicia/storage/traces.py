"""All that made a message."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from msgspec import Struct

from alicia.ids import (
    ConversationId,
    MemoryId,
    MemoryUseId,
    MessageId,
    NoteId,
    ReasoningStepId,
    SentenceId,
)
from alicia.storage.audio import Audio, audio_of_message
from alicia.storage.messages import Completion, Message, message
from alicia.storage.meta import Meta, meta_of
from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_all
from alicia.storage.tools import ToolUse
from alicia.telemetry import first_token


class Sentence(Struct, frozen=True, kw_only=True):
    """A row of `alicia_sentences` without its sound."""

    id: SentenceId
    message_id: MessageId
    sentence_sequence_number: int
    text: str
    audio_type: Literal["input", "output"] | None
    audio_format: str | None
    duration_ms: int | None
    audio_bytesize: int | None
    meta: dict[str, Any]
    completion_status: Completion
    created_at: datetime
    updated_at: datetime


class ReasoningStep(Struct, frozen=True, kw_only=True):
    """A row of `alicia_reasoning_steps`."""

    id: ReasoningStepId
    message_id: MessageId
    content: str
    sequence_number: int
    created_at: datetime


class MemoryUse(Struct, frozen=True, kw_only=True):
    """A row of `alicia_memory_used`."""

    id: MemoryUseId
    conversation_id: ConversationId
    message_id: MessageId
    memory_id: MemoryId
    query_prompt: str | None
    query_prompt_meta: dict[str, Any]
    similarity_score: float | None
    meta: dict[str, Any]
    position_in_results: int | None
    memory_type: str | None
    action: Literal["retrieved", "stored", "updated"]
    content: str
    confidence: float | None
    metadata: dict[str, Any]
    created_at: datetime


class Commentary(Struct, frozen=True, kw_only=True):
    """A row of `alicia_user_conversation_commentaries`, with the contents of the message that it is about."""

    id: NoteId
    content: str
    conversation_id: ConversationId
    message_id: MessageId | None
    created_by: str
    meta: dict[str, Any]
    created_at: datetime
    message_content: str | None = None


class Wait(Struct, frozen=True, kw_only=True):
    """For the model's first token, by the agent's clock; after tools were used it is waited for again.

    `ref` is what was stored next: a thought, a sentence, or the message.
    """

    ref: str
    asked_at: datetime
    first_token_at: datetime


class Stanza(Struct, frozen=True, kw_only=True):
    """A row of the journal `alicia_stanzas` without its bytes."""

    stanza_id: int
    type: int
    ref: str
    client_stanza_id: int | None
    size: int
    created_at: datetime


class Trace(Struct, frozen=True, kw_only=True):
    """A message and everything that belongs to it."""

    message: Message
    sentences: list[Sentence]
    reasoning: list[ReasoningStep]
    tool_uses: list[ToolUse]
    memories: list[MemoryUse]
    audio: list[Audio]
    commentaries: list[Commentary]
    waits: list[Wait]
    meta: list[Meta]
    stanzas: list[Stanza]


async def trace(conn: Connection, owner: str, message_id: str) -> Trace | None:
    """Everything that made this message; None for other people's."""
    found = await message(conn, owner, message_id)
    if found is None:
        return None
    said = await sentences(conn, message_id)
    thought = await reasoning(conn, message_id)
    used = await tool_uses(conn, message_id)
    remembered = await memory_uses(conn, found)
    heard = await audio_of_message(conn, message_id)
    noted = await commentaries_on(conn, message_id)
    refs = [message_id, *(row.id for rows in (said, thought, used, remembered, heard, noted) for row in rows)]
    known = await meta_of(conn, *refs)
    return Trace(
        message=found,
        sentences=said,
        reasoning=thought,
        tool_uses=used,
        memories=remembered,
        audio=heard,
        commentaries=noted,
        waits=waits(known) if found.message_role == "assistant" else [],
        meta=known,
        stanzas=await stanzas(conn, found.conversation_id, refs),
    )


def waits(meta: Sequence[Meta]) -> list[Wait]:
    """How long the model was waited for, in order, as far as it was noted."""
    took = {row.ref: row.value for row in meta if row.key == first_token.TOOK}
    came = [(row.ref, row.value, took.get(row.ref)) for row in meta if row.key == first_token.CAME]
    found = (_wait(ref, at, milliseconds) for ref, at, milliseconds in came)
    return sorted(filter(None, found), key=lambda wait: wait.first_token_at)


def _wait(ref: str, came: str | None, took: str | None) -> Wait | None:
    try:
        at = datetime.fromisoformat(came or "").astimezone(UTC)
        return Wait(ref=ref, asked_at=at - timedelta(milliseconds=float(took or 0)), first_token_at=at)
    except (ValueError, OverflowError):
        # A note on the answer has meta too, and a client may write anything into it.
        return None


async def sentences(conn: Connection, message_id: str) -> list[Sentence]:
    """A message's sentences in order, with their timings."""
    return await fetch_all(
        conn,
        Sentence,
        """
        SELECT id, message_id, sentence_sequence_number, text, audio_type, audio_format, duration_ms,
               audio_bytesize, meta, completion_status, created_at, updated_at
          FROM alicia_sentences
         WHERE message_id = %s
           AND deleted_at IS NULL
         ORDER BY sentence_sequence_number
        """,
        (message_id,),
    )


async def reasoning(conn: Connection, message_id: str) -> list[ReasoningStep]:
    """A message's chain of reasoning; tool uses share its numbering."""
    return await fetch_all(
        conn,
        ReasoningStep,
        """
        SELECT id, message_id, content, sequence_number, created_at
          FROM alicia_reasoning_steps
         WHERE message_id = %s
           AND deleted_at IS NULL
         ORDER BY sequence_number
        """,
        (message_id,),
    )


async def tool_uses(conn: Connection, message_id: str) -> list[ToolUse]:
    """The tools that a message used, in order."""
    return await fetch_all(
        conn,
        ToolUse,
        """
        SELECT id, conversation_id, message_id, tool_name, tool_arguments, tool_result, status, error_message,
               sequence_number, completed_at, created_at, updated_at
          FROM alicia_tool_uses
         WHERE message_id = %s
           AND deleted_at IS NULL
         ORDER BY sequence_number
        """,
        (message_id,),
    )


async def memory_uses(conn: Connection, about: Message) -> list[MemoryUse]:
    """The memories that a message prompted, or, for an answer, those that were used for it."""
    return await fetch_all(
        conn,
        MemoryUse,
        """
        SELECT id, conversation_id, message_id, memory_id, query_prompt, query_prompt_meta, similarity_score,
               meta, position_in_results, memory_type, action, content, confidence, metadata, created_at
          FROM alicia_memory_used
         WHERE (message_id = %(id)s OR message_id = %(previous_id)s AND metadata ->> 'answerId' = %(id)s)
           AND deleted_at IS NULL
         ORDER BY created_at, position_in_results, id
        """,
        {"id": about.id, "previous_id": about.previous_id},
    )


async def commentaries_on(conn: Connection, message_id: str) -> list[Commentary]:
    """What the user noted on a message, latest first."""
    return await fetch_all(
        conn,
        Commentary,
        """
        SELECT id, content, conversation_id, message_id, created_by, meta, created_at
          FROM alicia_user_conversation_commentaries
         WHERE message_id = %s
           AND deleted_at IS NULL
         ORDER BY created_at DESC
        """,
        (message_id,),
    )


async def commentaries(conn: Connection, owner: str, conversation_id: str) -> list[Commentary]:
    """What the user noted in a conversation, latest first, with the messages that it is about."""
    return await fetch_all(
        conn,
        Commentary,
        """
        SELECT n.id, n.content, n.conversation_id, n.message_id, n.created_by, n.meta, n.created_at,
               m.contents AS message_content
          FROM alicia_user_conversation_commentaries n
          JOIN alicia_conversations c ON c.id = n.conversation_id
          LEFT JOIN alicia_messages m ON m.id = n.message_id
         WHERE n.conversation_id = %s
           AND n.deleted_at IS NULL
           AND c.user_id = %s
         ORDER BY n.created_at DESC
        """,
        (conversation_id, owner),
    )


async def stanzas(conn: Connection, conversation_id: str, refs: list[str]) -> list[Stanza]:
    """The journal's entries about these ids, oldest first."""
    return await fetch_all(
        conn,
        Stanza,
        """
        SELECT stanza_id, type, ref, client_stanza_id, octet_length(envelope) AS size, created_at
          FROM alicia_stanzas
         WHERE conversation_id = %s
           AND ref = ANY(%s)
         ORDER BY stanza_id DESC
        """,
        (conversation_id, refs),
    )
