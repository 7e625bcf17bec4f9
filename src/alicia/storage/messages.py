# ruff: noqa: S608 (every statement is put together from literals of this file; the type checker proves it)
"""Messages: one, or a page of a conversation's history."""

from datetime import datetime
from typing import Any, Final, Literal, LiteralString, TypeAlias

from msgspec import Struct, convert
from psycopg.rows import TupleRow

from alicia.ids import AudioId, ConversationId, MessageId, NoteId
from alicia.storage.pool import Connection

COLUMNS: Final[LiteralString] = """
    m.id, m.conversation_id, m.sequence_number, m.previous_id, m.message_role, m.contents, m.local_id,
    m.server_id, m.sync_status, m.synced_at, m.completion_status, m.audio_id, m.superseded_by, m.created_at,
    m.updated_at, m.deleted_at,
    (SELECT jsonb_agg(jsonb_build_object('id', n.id, 'content', n.content, 'created_by', n.created_by,
                                         'meta', n.meta, 'created_at', n.created_at AT TIME ZONE 'utc')
                      ORDER BY n.created_at, n.id)
       FROM alicia_user_conversation_commentaries n
      WHERE n.message_id = m.id
        AND n.deleted_at IS NULL)"""
"""The fields of a `NotedMessage`. Notes are sought by message: those on others cost a page nothing."""

Role: TypeAlias = Literal["user", "assistant", "system"]
Completion: TypeAlias = Literal["pending", "streaming", "completed", "failed"]


class Message(Struct, frozen=True, kw_only=True):
    """A row of `alicia_messages`."""

    id: MessageId
    conversation_id: ConversationId
    sequence_number: int
    previous_id: MessageId | None
    message_role: Role
    contents: str
    local_id: str | None
    server_id: str | None
    sync_status: Literal["pending", "synced", "conflict"]
    synced_at: datetime | None
    completion_status: Completion
    audio_id: AudioId | None
    superseded_by: MessageId | None
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None


class Note(Struct, frozen=True, kw_only=True):
    """What the user noted on a message."""

    id: NoteId
    content: str
    created_by: str
    meta: dict[str, Any]
    created_at: datetime


class NotedMessage(Message, frozen=True, kw_only=True):
    """A message with the notes on it, oldest first."""

    commentaries: list[Note]


class History(Struct, frozen=True, kw_only=True):
    """A page of messages in sequence order, and the head of the journal in the same snapshot.

    `next` is the `before` of the next older page, None when there is none.
    """

    messages: list[NotedMessage]
    last_server_stanza_id: int
    next: int | None


async def message(conn: Connection, owner: str, message_id: str) -> NotedMessage | None:
    """This owner's message, also when it is superseded; None for other people's and deleted ones."""
    cursor = await conn.execute(
        f"""
        SELECT {COLUMNS}
          FROM alicia_messages m
          JOIN alicia_conversations c ON c.id = m.conversation_id
         WHERE m.id = %s
           AND m.deleted_at IS NULL
           AND c.user_id = %s
        """,
        (message_id, owner),
    )
    row = await cursor.fetchone()
    return _noted(row) if row else None


async def history(
    conn: Connection,
    owner: str,
    conversation_id: str,
    *,
    before: int | None = None,
    limit: int = 50,
    superseded: bool = False,
) -> History | None:
    """The newest `limit` messages before sequence number `before`; None for other people's conversations.

    Superseded messages only when asked for. Keyset paging: page 1 costs the same however long the history is.
    """
    cursor = await conn.execute(
        f"""
        SELECT c.last_server_stanza_id, {COLUMNS}
          FROM alicia_conversations c
          LEFT JOIN LATERAL (
               SELECT *
                 FROM alicia_messages
                WHERE conversation_id = c.id
                  AND sequence_number < %(before)s
                  AND deleted_at IS NULL
                  AND (superseded_by IS NULL OR %(superseded)s)
                ORDER BY sequence_number DESC
                LIMIT %(limit)s) m ON true
         WHERE c.id = %(conversation_id)s
           AND c.user_id = %(owner)s
         ORDER BY m.sequence_number
        """,
        {
            "conversation_id": conversation_id,
            "owner": owner,
            "before": 2**31 - 1 if before is None else before,
            "superseded": superseded,
            "limit": limit + 1,
        },
    )
    rows = await cursor.fetchall()
    if not rows:
        return None
    found = [_noted(row[1:]) for row in rows if row[1] is not None]
    page = found[-limit:]
    return History(
        messages=page,
        last_server_stanza_id=rows[0][0],
        next=page[0].sequence_number if len(found) > limit else None,
    )


def _noted(row: TupleRow) -> NotedMessage:
    *columns, notes = row
    known = dict(zip(Message.__struct_fields__, columns, strict=True))
    return NotedMessage(**known, commentaries=convert(notes or [], list[Note]))
