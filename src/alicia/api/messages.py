"""Messages: a conversation's history in pages, one message, and everything that made it."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import AliasChoices, Field

from alicia import ids
from alicia.api import cursors
from alicia.api.conversations import ConversationId
from alicia.api.cursors import Before, Limit, Numbered
from alicia.api.problems import Problem, documented
from alicia.api.scope import Conn, Shared, User, Writer
from alicia.api.shapes import Answer, Page
from alicia.storage import messages as stored
from alicia.storage import traces
from alicia.storage.found import is_erased

routes = APIRouter(tags=["messages"])

MessageId = Annotated[str, Path(pattern=f"^{ids.pattern(ids.MessageId)}$")]
Completion = Literal["pending", "streaming", "completed", "failed"]


class Message(Answer):
    """A message as its conversation has it."""

    id: str = Field(examples=["am_V1StGXR8_Z5jdHi6B-myT"])
    conversation_id: str
    sequence_number: int
    previous_id: str | None
    role: Literal["user", "assistant", "system"] = Field(
        validation_alias=AliasChoices("message_role", "role")
    )
    content: str = Field(validation_alias=AliasChoices("contents", "content"))
    status: Completion = Field(validation_alias=AliasChoices("completion_status", "status"))
    audio_id: str | None
    superseded_by: str | None
    local_id: str | None
    sync_status: Literal["pending", "synced", "conflict"]
    created_at: datetime
    updated_at: datetime


class History(Page[Message]):
    """A page in sequence order; `lastServerStanzaId` is the journal's head in the same snapshot."""

    last_server_stanza_id: int


class Sentence(Answer):
    """A sentence of an answer, with its timings and what is known of its sound."""

    id: str
    sequence: int = Field(validation_alias=AliasChoices("sentence_sequence_number", "sequence"))
    text: str
    status: Completion = Field(validation_alias=AliasChoices("completion_status", "status"))
    audio_format: str | None
    audio_bytesize: int | None
    duration_ms: int | None
    meta: dict[str, Any]
    created_at: datetime
    updated_at: datetime


class ReasoningStep(Answer):
    """A step of the answer's reasoning; it shares its numbering with the tool uses."""

    id: str
    sequence: int = Field(validation_alias=AliasChoices("sequence_number", "sequence"))
    content: str
    created_at: datetime


class ToolUse(Answer):
    """A tool that the answer used, whole."""

    id: str
    sequence: int = Field(validation_alias=AliasChoices("sequence_number", "sequence"))
    tool_name: str
    tool_arguments: dict[str, Any]
    tool_result: Any
    status: Literal["pending", "running", "success", "error", "cancelled"]
    error_message: str | None
    completed_at: datetime | None
    created_at: datetime


class MemoryUse(Answer):
    """A memory that was recalled or made, how it was looked for, and how well it fitted."""

    id: str
    message_id: str
    memory_id: str
    action: Literal["retrieved", "stored", "updated"]
    content: str
    memory_type: str | None
    query_prompt: str | None
    query_prompt_meta: dict[str, Any]
    similarity_score: float | None
    confidence: float | None
    position_in_results: int | None
    metadata: dict[str, Any]
    meta: dict[str, Any]
    created_at: datetime


class Audio(Answer):
    """A recording; its sound is at `/audio/{id}`."""

    id: str
    audio_type: Literal["input", "output"]
    audio_format: str | None
    audio_bytesize: int | None
    duration_ms: int | None
    transcription: str | None
    livekit_track_sid: str | None
    transcription_meta: dict[str, Any]
    created_at: datetime


class Note(Answer):
    """What the user noted on the message."""

    id: str
    content: str
    created_by: str
    meta: dict[str, Any]
    created_at: datetime


class Meta(Answer):
    """A key and a value about the message or one of its parts; a value that was not text is JSON."""

    ref: str
    key: str
    value: str | None
    created_at: datetime


class Stanza(Answer):
    """The journal's entry of an envelope about the message or one of its parts."""

    stanza_id: int
    type: int
    ref: str
    client_stanza_id: int | None
    size: int
    created_at: datetime


class Trace(Answer):
    """A message and everything that made it."""

    message: Message
    sentences: list[Sentence]
    reasoning: list[ReasoningStep]
    tool_uses: list[ToolUse]
    memories: list[MemoryUse]
    audio: list[Audio]
    notes: list[Note] = Field(validation_alias=AliasChoices("commentaries", "notes"))
    meta: list[Meta]
    stanzas: list[Stanza]


@routes.get(
    "/conversations/{conversation_id}/messages",
    summary="Read a conversation's history",
    responses=documented(401, 404, 422, 503),
)
async def list_messages(
    conversation_id: ConversationId,
    user: User,
    conn: Conn,
    before: Before = None,
    limit: Limit = 50,
    superseded: Annotated[
        bool, Query(description="Also messages that an edit or another answer took the place of.")
    ] = False,
) -> History:
    """The newest messages, oldest of them first; `next` leads to older ones."""
    place = cursors.decode(Numbered, before)
    page = await stored.history(
        conn, user, conversation_id, before=place and place.number, limit=limit, superseded=superseded
    )
    if page is None or (not page.messages and await is_erased(conn, conversation_id)):
        raise Problem(404, "There is no such conversation.")
    return History(
        items=[Message.model_validate(each) for each in page.messages],
        next=cursors.encode(Numbered(page.next)) if page.next is not None else None,
        last_server_stanza_id=page.last_server_stanza_id,
    )


@routes.get(
    "/conversations/{conversation_id}/messages/{message_id}",
    summary="Read a message",
    responses=documented(401, 404, 422, 503),
)
async def read_message(
    conversation_id: ConversationId, message_id: MessageId, user: User, conn: Conn
) -> Message:
    """One message, also when it is superseded."""
    found = await stored.message(conn, user, message_id)
    if found is None or found.conversation_id != conversation_id:
        raise _no_message()
    return Message.model_validate(found)


@routes.delete(
    "/conversations/{conversation_id}/messages/{message_id}",
    status_code=204,
    response_class=Response,
    summary="Erase a message",
    responses=documented(401, 404, 422, 429, 503),
)
async def erase_message(
    conversation_id: ConversationId, message_id: MessageId, user: Writer, conn: Conn, shared: Shared
) -> None:
    """Really: the message, all that made it, and what was learned from it. Devices hear of it."""
    await read_message(conversation_id, message_id, user, conn)
    await shared.ledger.erase_message(user, message_id)


@routes.get(
    "/messages/{message_id}/trace",
    summary="Read everything that made a message",
    responses=documented(401, 404, 422, 503),
)
async def read_trace(message_id: MessageId, user: User, conn: Conn) -> Trace:
    """Reasoning, tools, memories, sentences with timings, sound, notes, meta, and the journal's entries."""
    async with conn.transaction():
        # One snapshot, so that an answer that is under way is shown as it was at one moment.
        await conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        found = await traces.trace(conn, user, message_id)
    if found is None:
        raise _no_message()
    return Trace.model_validate(found)


def _no_message() -> Problem:
    return Problem(404, "There is no such message.")
