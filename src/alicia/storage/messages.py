"""Messages: one, or a page of a conversation's history."""

from datetime import datetime
from typing import Literal, TypeAlias

from msgspec import Struct

from alicia.ids import AudioId, ConversationId, MessageId
from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_one

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


class History(Struct, frozen=True, kw_only=True):
    """A page of messages in sequence order, and the head of the journal in the same snapshot.

    `next` is the `before` of the next older page, None when there is none.
    """

    messages: list[Message]
    last_server_stanza_id: int
    next: int | None


async def message(conn: Connection, owner: str, message_id: str) -> Message | None:
    """This owner's message, also when it is superseded; None for other people's and deleted ones."""
    return await fetch_one(
        conn,
        Message,
        """
        SELECT m.id, m.conversation_id, m.sequence_number, m.previous_id, m.message_role, m.contents,
               m.local_id, m.server_id, m.sync_status, m.synced_at, m.completion_status, m.audio_id,
               m.superseded_by, m.created_at, m.updated_at, m.deleted_at
          FROM alicia_messages m
          JOIN alicia_conversations c ON c.id = m.conversation_id
         WHERE m.id = %s
           AND m.deleted_at IS NULL
           AND c.user_id = %s
        """,
        (message_id, owner),
    )


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
        """
        SELECT c.last_server_stanza_id,
               m.id, m.conversation_id, m.sequence_number, m.previous_id, m.message_role, m.contents,
               m.local_id, m.server_id, m.sync_status, m.synced_at, m.completion_status, m.audio_id,
               m.superseded_by, m.created_at, m.updated_at, m.deleted_at
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
    names = Message.__struct_fields__
    found = [Message(**dict(zip(names, row[1:], strict=True))) for row in rows if row[1] is not None]
    page = found[-limit:]
    return History(
        messages=page,
        last_server_stanza_id=rows[0][0],
        next=page[0].sequence_number if len(found) > limit else None,
    )
