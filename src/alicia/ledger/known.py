"""Whether a client's body is stored already: the question that makes redelivery harmless."""

from typing import Any, Literal, LiteralString, TypeAlias

import msgspec
from msgspec import Struct
from psycopg.rows import TupleRow

from alicia import ids
from alicia.errors import ErrorCode, RemoteProtocolError
from alicia.ids import AudioId, ConversationId, MessageId, NoteId
from alicia.protocol.envelope import decode
from alicia.protocol.messages import (
    AudioChunk,
    Body,
    ControlStop,
    ControlVariation,
    SyncStatus,
    Tombstone,
    ToolUseResult,
    UserMessage,
    UserNote,
    subject,
)
from alicia.protocol.session import identity
from alicia.storage.pool import Connection

Kind: TypeAlias = Literal["free", "redelivery", "conflict"]


class Known(Struct, frozen=True, kw_only=True):
    """The answer. `body` is what to append: with a new id after a conflict, and with ids that are this
    conversation's. `server_id` and `sync_status` are what the Acknowledgement says of a message.
    """

    kind: Kind
    body: Body
    server_id: str | None = None
    sync_status: SyncStatus | None = None

    @property
    def stored(self) -> bool:
        """Whether to acknowledge it again, without a second effect."""
        return self.kind == "redelivery"


async def lookup(conn: Connection, conversation_id: ConversationId, body: Body) -> Known:
    """Look for the body by its id and content; RemoteProtocolError when it refers to something elsewhere."""
    if isinstance(body, UserMessage):
        return await _user_message(conn, conversation_id, body)
    if isinstance(body, UserNote):
        return await _note(conn, conversation_id, body)
    if isinstance(body, ControlVariation):
        return await _variation(conn, conversation_id, body)
    if isinstance(body, ControlStop):
        if not await _is_planned(conn, conversation_id, body.target_id):
            await _message(conn, conversation_id, body.target_id, "targetId")
        return await _by_journal(conn, conversation_id, body)
    if isinstance(body, ToolUseResult):
        return await _tool_result(conn, conversation_id, body)
    if isinstance(body, AudioChunk):
        return await _audio(conn, conversation_id, body)
    return Known(kind="free", body=body)


async def _user_message(conn: Connection, conversation_id: ConversationId, body: UserMessage) -> Known:
    rows = await _all(
        conn,
        """
        SELECT id, contents, sync_status,
               conversation_id = %(conversation_id)s AND message_role = 'user' AS comparable,
               deleted_at IS NOT NULL AS deleted
          FROM alicia_messages
         WHERE id = %(id)s
            OR conversation_id = %(conversation_id)s AND local_id = %(id)s
        """,
        {"conversation_id": conversation_id, "id": body.id},
    )
    for stored_id, contents, sync_status, comparable, deleted in rows:
        # What was deleted or erased is never stored again by a device that still has it in its outbox.
        if comparable and (deleted or contents == body.content):
            return Known(kind="redelivery", body=body, server_id=stored_id, sync_status=sync_status)
    body = await _with_own_references(conn, conversation_id, body)
    if not rows:
        return Known(kind="free", body=body, server_id=body.id, sync_status="synced")
    new_id = ids.new(MessageId)
    body = msgspec.structs.replace(body, id=new_id, local_id=body.id)
    return Known(kind="conflict", body=body, server_id=new_id, sync_status="conflict")


async def _with_own_references(
    conn: Connection, conversation_id: ConversationId, body: UserMessage
) -> UserMessage:
    changed: dict[str, Any] = {}
    if body.previous_id:
        changed["previous_id"] = (await _message(conn, conversation_id, body.previous_id, "previousId"))[0]
    if body.supersedes:
        target_id, role = await _message(conn, conversation_id, body.supersedes, "supersedes")
        if role != "user":
            raise _invalid("`supersedes` of a UserMessage must name a user's message")
        changed["supersedes"] = target_id
    if body.audio_id and not await _journaled(conn, conversation_id, body.audio_id):
        raise _invalid("`audioId` names no audio of this conversation")
    return msgspec.structs.replace(body, **changed) if changed else body


async def _note(conn: Connection, conversation_id: ConversationId, body: UserNote) -> Known:
    rows = await _all(
        conn,
        """
        SELECT conversation_id = %(conversation_id)s AND (content = %(content)s OR deleted_at IS NOT NULL)
          FROM alicia_user_conversation_commentaries
         WHERE id = %(id)s
        """,
        {"conversation_id": conversation_id, "id": body.id, "content": body.content},
    )
    if rows and rows[0][0]:
        return Known(kind="redelivery", body=body)
    if body.message_id:
        message_id, _ = await _message(conn, conversation_id, body.message_id, "messageId")
        body = msgspec.structs.replace(body, message_id=message_id)
    if not rows:
        return Known(kind="free", body=body)
    return Known(kind="conflict", body=msgspec.structs.replace(body, id=ids.new(NoteId)))


async def _variation(conn: Connection, conversation_id: ConversationId, body: ControlVariation) -> Known:
    found = await _by_journal(conn, conversation_id, body)
    if found.stored:
        return found
    target_id, role = await _message(conn, conversation_id, body.target_id, "targetId")
    if role != ("user" if body.mode == "edit" else "assistant"):
        raise _invalid("`edit` takes a user's message and `regenerate` an answer as its `targetId`")
    if body.mode == "edit" and body.content is None:
        raise _invalid("`edit` needs `content`")
    body = msgspec.structs.replace(body, target_id=target_id)
    taken = await _all(conn, "SELECT 1 FROM alicia_messages WHERE id = %(id)s", {"id": body.id})
    if found.kind == "free" and not taken:
        return Known(kind="free", body=body)
    return Known(kind="conflict", body=msgspec.structs.replace(body, id=ids.new(MessageId)))


async def _tool_result(conn: Connection, conversation_id: ConversationId, body: ToolUseResult) -> Known:
    rows = await _all(
        conn,
        """
        SELECT completed_at IS NOT NULL
          FROM alicia_tool_uses
         WHERE id = %(id)s
           AND conversation_id = %(conversation_id)s
        """,
        {"id": body.request_id, "conversation_id": conversation_id},
    )
    if not rows:
        raise _invalid("`requestId` names no tool use of this conversation")
    if not rows[0][0]:
        return Known(kind="free", body=body)
    found = await _by_journal(conn, conversation_id, body)
    return found if found.stored else Known(kind="conflict", body=body)


async def _audio(conn: Connection, conversation_id: ConversationId, body: AudioChunk) -> Known:
    if body.message_id:
        message_id, _ = await _message(conn, conversation_id, body.message_id, "messageId")
        body = msgspec.structs.replace(body, message_id=message_id)
    if not body.id.startswith("aa_"):
        raise _invalid("a client's AudioChunk must have the id of a recording, `aa_…`")
    parts = await _journaled_bodies(conn, conversation_id, body)
    if any(isinstance(part, Tombstone) or _same(part, body) for part in parts):
        return Known(kind="redelivery", body=body)
    last = parts[-1] if parts else None
    if isinstance(last, AudioChunk):
        if last.is_last or last.sequence is None:
            raise _invalid("this recording is complete")
        if body.sequence != last.sequence + 1:
            raise _invalid("`sequence` must count a recording's parts up by one")
        return Known(kind="free", body=body)
    taken = await _all(conn, "SELECT 1 FROM alicia_audio WHERE id = %(id)s", {"id": body.id})
    if not taken:
        return Known(kind="free", body=body)
    return Known(kind="conflict", body=msgspec.structs.replace(body, id=ids.new(AudioId)))


async def _by_journal(conn: Connection, conversation_id: ConversationId, body: Body) -> Known:
    """Compare with the echoes of this type about the same thing; an erased one counts as the same."""
    echoes = await _journaled_bodies(conn, conversation_id, body)
    for stored in echoes:
        if isinstance(stored, Tombstone) or _same(stored, body):
            return Known(kind="redelivery", body=body)
    return Known(kind="conflict" if echoes and getattr(body, "id", None) else "free", body=body)


async def _journaled_bodies(
    conn: Connection, conversation_id: ConversationId, body: Body
) -> list[Body | Tombstone]:
    """What the journal has of this type about the same thing, oldest first."""
    rows = await _all(
        conn,
        """
        SELECT envelope
          FROM alicia_stanzas
         WHERE conversation_id = %(conversation_id)s
           AND ref = %(ref)s
           AND type = %(type)s
         ORDER BY stanza_id DESC
        """,
        {"conversation_id": conversation_id, "ref": subject(body), "type": body.CODE},
    )
    return [decode(row[0]).body for row in rows]


def _same(stored: Body, body: Body) -> bool:
    if isinstance(stored, ControlVariation) and isinstance(body, ControlVariation):
        return (stored.mode, stored.content) == (body.mode, body.content)
    if isinstance(stored, ToolUseResult) and isinstance(body, ToolUseResult):
        # What the agent cut is the same as what the client sent whole.
        return stored.success == body.success and (stored.truncated or stored.result == body.result)
    return identity(stored) == identity(body)


async def _message(
    conn: Connection, conversation_id: ConversationId, message_id: str, field: str
) -> tuple[MessageId, str]:
    """The id (another one, if there was a conflict) and the role of a message of this conversation."""
    rows = await _all(
        conn,
        """
        SELECT id, message_role
          FROM alicia_messages
         WHERE conversation_id = %(conversation_id)s
           AND (id = %(id)s OR local_id = %(id)s)
         ORDER BY local_id IS NULL, sequence_number DESC
         LIMIT 1
        """,
        {"conversation_id": conversation_id, "id": message_id},
    )
    if not rows:
        raise _invalid(f"`{field}` names no message of this conversation")
    return rows[0][0], rows[0][1]


async def _is_planned(conn: Connection, conversation_id: ConversationId, message_id: str) -> bool:
    """Whether an answer was asked for under this id, begun or not."""
    rows = await _all(
        conn,
        """
        SELECT 1
          FROM alicia_messages
         WHERE conversation_id = %(conversation_id)s
           AND superseded_by = %(id)s
         LIMIT 1
        """,
        {"conversation_id": conversation_id, "id": message_id},
    )
    return bool(rows)


async def _journaled(conn: Connection, conversation_id: ConversationId, ref: str) -> bool:
    rows = await _all(
        conn,
        "SELECT 1 FROM alicia_stanzas WHERE conversation_id = %(conversation_id)s AND ref = %(ref)s",
        {"conversation_id": conversation_id, "ref": ref},
    )
    return bool(rows)


async def _all(conn: Connection, sql: LiteralString, params: dict[str, Any]) -> list[TupleRow]:
    cursor = await conn.execute(sql, params)
    return await cursor.fetchall()


def _invalid(message: str) -> RemoteProtocolError:
    return RemoteProtocolError(ErrorCode.INVALID_FIELD, message)
