"""What of a conversation has not been learned from yet, and what a message has already done to memories."""

from collections.abc import Collection
from datetime import timedelta
from typing import Final

from msgspec import Struct

from alicia.ids import ConversationId, MemoryId, MessageId
from alicia.storage.meta import set_meta
from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_all

LEARNED: Final = "learned"
"""The conversation's meta key with the sequence number up to which its messages were learned from."""
QUIET: Final = timedelta(minutes=1)
"""For how long nothing was heard of a conversation that is taken to be left."""
RECENT: Final = timedelta(days=7)
"""What was left for longer is learned only when its conversation is opened."""


class Unlearned(Struct, frozen=True, kw_only=True):
    """A user's message that nobody has learned from, and what the assistant had said before it."""

    id: MessageId
    sequence_number: int
    contents: str
    before: str


async def unlearned(conn: Connection, owner: str, conversation_id: str, limit: int) -> list[Unlearned]:
    """The newest of an owner's messages in this conversation that were not learned from, in their order."""
    return await fetch_all(
        conn,
        Unlearned,
        """
        SELECT id, sequence_number, contents, before
          FROM (SELECT m.id, m.sequence_number, m.contents, coalesce(p.contents, '') AS before
                  FROM alicia_messages m
                  JOIN alicia_conversations c ON c.id = m.conversation_id
                  LEFT JOIN alicia_messages p
                    ON p.id = m.previous_id
                   AND p.message_role = 'assistant'
                   AND p.deleted_at IS NULL
                 WHERE m.conversation_id = %(conversation_id)s
                   AND c.user_id = %(owner)s
                   AND m.message_role = 'user'
                   AND m.superseded_by IS NULL
                   AND m.deleted_at IS NULL
                   AND m.sequence_number > coalesce((SELECT max(value::integer)
                                                       FROM alicia_meta
                                                      WHERE ref = %(conversation_id)s
                                                        AND key = %(learned)s
                                                        AND deleted_at IS NULL), 0)
                 ORDER BY m.sequence_number DESC
                 LIMIT %(limit)s) newest
         ORDER BY sequence_number
        """,
        {"conversation_id": conversation_id, "owner": owner, "learned": LEARNED, "limit": limit},
    )


async def left_unlearned(
    conn: Connection, *, limit: int, besides: Collection[str] = (), quiet: timedelta = QUIET
) -> list[ConversationId]:
    """Conversations that no living agent has, with something that was not learned from; no text is read.

    Only what was said within RECENT, but not just now, counts. `besides` are left out.
    """
    cursor = await conn.execute(
        """
        SELECT c.id
          FROM alicia_conversations c
         WHERE c.deleted_at IS NULL
           AND c.updated_at > (now() AT TIME ZONE 'utc') - %(recent)s
           AND (c.agent_id IS NULL OR c.agent_seen_at < (now() AT TIME ZONE 'utc') - %(quiet)s)
           AND c.id <> ALL(%(besides)s)
           AND EXISTS (SELECT
                         FROM alicia_messages m
                        WHERE m.conversation_id = c.id
                          AND m.message_role = 'user'
                          AND m.superseded_by IS NULL
                          AND m.deleted_at IS NULL
                          AND m.created_at < (now() AT TIME ZONE 'utc') - %(quiet)s
                          AND m.sequence_number > coalesce((SELECT max(value::integer)
                                                              FROM alicia_meta
                                                             WHERE ref = c.id
                                                               AND key = %(learned)s
                                                               AND deleted_at IS NULL), 0))
         ORDER BY c.updated_at DESC
         LIMIT %(limit)s
        """,
        {"recent": RECENT, "quiet": quiet, "besides": list(besides), "learned": LEARNED, "limit": limit},
    )
    return [row[0] for row in await cursor.fetchall()]


async def mark_learned(conn: Connection, conversation_id: str, sequence_number: int) -> None:
    """Nothing is to be learned from this message, or from those before it, any more."""
    await set_meta(conn, conversation_id, LEARNED, sequence_number)


async def touched_by(conn: Connection, owner: str, message_id: str) -> set[MemoryId]:
    """The owner's memories that this message has stored or changed already."""
    cursor = await conn.execute(
        """
        SELECT mu.memory_id
          FROM alicia_memory_used mu
          JOIN alicia_memory m ON m.id = mu.memory_id
         WHERE mu.message_id = %s
           AND mu.action IN ('stored', 'updated')
           AND m.created_by = %s
        """,
        (message_id, owner),
    )
    return {row[0] for row in await cursor.fetchall()}
