"""Conversations: reads, and the few columns that their owner may set."""

from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct
from psycopg.types.json import Jsonb

from alicia.ids import ConversationId
from alicia.storage.changes import announce
from alicia.storage.meta import set_meta
from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_all, fetch_one

Status: TypeAlias = Literal["active", "archived", "deleted"]

GIVEN_TITLE: Final = "titleGiven"
"""The meta key under which a title stands that its owner did not choose."""


class Conversation(Struct, frozen=True, kw_only=True):
    """A row of `alicia_conversations`."""

    id: ConversationId
    user_id: str
    livekit_room_name: str | None
    title: str
    status: Status
    preferences: dict[str, Any]
    last_client_stanza_id: int
    last_server_stanza_id: int
    agent_id: str | None
    agent_seen_at: datetime | None
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None


async def conversation(conn: Connection, owner: str, conversation_id: str) -> Conversation | None:
    """This owner's conversation, whatever its status; None for other people's."""
    return await fetch_one(
        conn,
        Conversation,
        """
        SELECT id, user_id, livekit_room_name, title, status, preferences, last_client_stanza_id,
               last_server_stanza_id, agent_id, agent_seen_at, created_at, updated_at, deleted_at
          FROM alicia_conversations
         WHERE id = %s
           AND user_id = %s
        """,
        (conversation_id, owner),
    )


async def active_conversation(conn: Connection, owner: str, conversation_id: str) -> Conversation | None:
    """The conversation to reconnect to, with its room; None unless it is active."""
    found = await conversation(conn, owner, conversation_id)
    return found if found and found.status == "active" and found.deleted_at is None else None


async def conversations(
    conn: Connection,
    owner: str,
    *,
    status: Status | None = None,
    query: str = "",
    before: tuple[datetime, str] | None = None,
    limit: int = 50,
) -> list[Conversation]:
    """An owner's conversations, latest activity first; `before` is the last one's (updated_at, id).

    Deleted ones only when `status` asks for them. `query` is words of the title.
    """
    moment, last_id = before or (None, None)
    return await fetch_all(
        conn,
        Conversation,
        """
        SELECT id, user_id, livekit_room_name, title, status, preferences, last_client_stanza_id,
               last_server_stanza_id, agent_id, agent_seen_at, created_at, updated_at, deleted_at
          FROM alicia_conversations
         WHERE user_id = %(owner)s
           AND (%(status)s::text IS NULL AND deleted_at IS NULL OR status = %(status)s)
           AND (%(moment)s::timestamptz IS NULL
                OR (updated_at, id) < (%(moment)s::timestamptz AT TIME ZONE 'utc', %(last_id)s))
           AND strpos(lower(title), lower(%(query)s)) > 0
         ORDER BY updated_at DESC, id DESC
         LIMIT %(limit)s
        """,
        {
            "owner": owner,
            "status": status,
            "moment": moment,
            "last_id": last_id,
            "query": query,
            "limit": limit,
        },
    )


async def update_conversation(
    conn: Connection,
    owner: str,
    conversation_id: str,
    *,
    title: str | None = None,
    status: Status | None = None,
    preferences: dict[str, Any] | None = None,
) -> Conversation | None:
    """Set what is given, and tell the agent; None if not the owner's. Status `deleted` deletes softly."""
    async with conn.transaction():
        changed = await fetch_one(
            conn,
            Conversation,
            """
               UPDATE alicia_conversations
                  SET title       = coalesce(%(title)s, title),
                      status      = coalesce(%(status)s, status),
                      preferences = coalesce(%(preferences)s, preferences),
                      deleted_at  = CASE coalesce(%(status)s, status)
                                    WHEN 'deleted' THEN coalesce(deleted_at, now() AT TIME ZONE 'utc') END
                WHERE id = %(id)s
                  AND user_id = %(owner)s
            RETURNING id, user_id, livekit_room_name, title, status, preferences, last_client_stanza_id,
                      last_server_stanza_id, agent_id, agent_seen_at, created_at, updated_at, deleted_at
            """,
            {
                "id": conversation_id,
                "owner": owner,
                "title": title,
                "status": status,
                "preferences": None if preferences is None else Jsonb(preferences),
            },
        )
        if changed:
            await announce(conn, conversation_id)
        return changed


async def entitle(conn: Connection, owner: str, conversation_id: str, title: str) -> bool:
    """Give a conversation that has no title this one, and tell the agent; whether it had none.

    Meta keeps that it was not the owner who gave it, so that it goes when a message is erased.
    """
    async with conn.transaction():
        cursor = await conn.execute(
            """
            UPDATE alicia_conversations
               SET title = %s
             WHERE id = %s
               AND user_id = %s
               AND title = ''
               AND deleted_at IS NULL
            """,
            (title, conversation_id, owner),
        )
        if cursor.rowcount == 0:
            return False
        await set_meta(conn, conversation_id, GIVEN_TITLE, title)
        await announce(conn, conversation_id)
        return True
