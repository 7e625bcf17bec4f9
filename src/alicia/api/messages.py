"""Messages: a conversation's history in pages, one message, and everything that made it."""

from typing import Annotated, Any, Literal

from fastapi import Path, Query, Response
from msgspec import field

from alicia import ids
from alicia.api import cursors
from alicia.api.calls import Calls
from alicia.api.conversations import ConversationId
from alicia.api.cursors import Before, Limit, Numbered
from alicia.api.problems import Problem, documented
from alicia.api.scope import Conn, Shared, User, Writer
from alicia.api.shapes import Answer, Moment, Page, shown
from alicia.storage import messages as stored
from alicia.storage.found import is_erased

routes = Calls("messages")

MessageId = Annotated[str, Path(pattern=f"^{ids.pattern(ids.MessageId)}$")]
Completion = Literal["pending", "streaming", "completed", "failed"]


class Note(Answer, frozen=True, kw_only=True):
    """What the user noted on a message."""

    id: str
    content: str
    created_by: str
    meta: dict[str, Any]
    created_at: Moment


class Message(Answer, frozen=True, kw_only=True):
    """A message as its conversation has it, with the notes on it, oldest first."""

    id: Annotated[str, shown("am_V1StGXR8_Z5jdHi6B-myT")]
    conversation_id: str
    sequence_number: int
    previous_id: str | None
    message_role: Literal["user", "assistant", "system"] = field(name="role")
    contents: str = field(name="content")
    completion_status: Completion = field(name="status")
    audio_id: str | None
    superseded_by: str | None
    local_id: str | None
    sync_status: Literal["pending", "synced", "conflict"]
    commentaries: list[Note] = field(name="notes")
    created_at: Moment
    updated_at: Moment


class History(Page[Message], frozen=True, kw_only=True):
    """A page in sequence order; `lastServerStanzaId` is the journal's head in the same snapshot."""

    last_server_stanza_id: int


class Sentence(Answer, frozen=True, kw_only=True):
    """A sentence of an answer, with its timings and what is known of its sound."""

    id: str
    sentence_sequence_number: int = field(name="sequence")
    text: str
    completion_status: Completion = field(name="status")
    audio_format: str | None
    audio_bytesize: int | None
    duration_ms: int | None
    meta: dict[str, Any]
    created_at: Moment
    updated_at: Moment


class ReasoningStep(Answer, frozen=True, kw_only=True):
    """A step of the answer's reasoning; it shares its numbering with the tool uses."""

    id: str
    sequence_number: int = field(name="sequence")
    content: str
    created_at: Moment


class ToolUse(Answer, frozen=True, kw_only=True):
    """A tool that the answer used, whole."""

    id: str
    sequence_number: int = field(name="sequence")
    tool_name: str
    tool_arguments: dict[str, Any]
    tool_result: Any
    status: Literal["pending", "running", "success", "error", "cancelled"]
    error_message: str | None
    completed_at: Moment | None
    created_at: Moment


class MemoryUse(Answer, frozen=True, kw_only=True):
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
    created_at: Moment


class Audio(Answer, frozen=True, kw_only=True):
    """A recording; its sound is at `/audio/{id}`."""

    id: str
    audio_type: Literal["input", "output"]
    audio_format: str | None
    audio_bytesize: int | None
    duration_ms: int | None
    transcription: str | None
    livekit_track_sid: str | None
    transcription_meta: dict[str, Any]
    created_at: Moment


class Meta(Answer, frozen=True, kw_only=True):
    """A key and a value about the message or one of its parts; a value that was not text is JSON."""

    ref: str
    key: str
    value: str | None
    created_at: Moment


class Wait(Answer, frozen=True, kw_only=True):
    """From asking the model to its first token; `ref` is the part of the message that was stored next."""

    ref: str
    asked_at: Moment
    first_token_at: Moment


class Stanza(Answer, frozen=True, kw_only=True):
    """The journal's entry of an envelope about the message or one of its parts."""

    stanza_id: int
    type: int
    ref: str
    client_stanza_id: int | None
    size: int
    created_at: Moment


class Trace(Answer, frozen=True, kw_only=True):
    """A message and everything that made it."""

    message: Message
    sentences: list[Sentence]
    reasoning: list[ReasoningStep]
    tool_uses: list[ToolUse]
    memories: list[MemoryUse]
    audio: list[Audio]
    commentaries: list[Note] = field(name="notes")
    waits: list[Wait]
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
        items=[Message.of(each) for each in page.messages],
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
        raise no_message()
    return Message.of(found)


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


def no_message() -> Problem:
    """What is said of other people's messages, too."""
    return Problem(404, "There is no such message.")
