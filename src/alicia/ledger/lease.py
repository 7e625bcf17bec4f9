"""Who serves a conversation: its owner's id and when it was last seen stand in the conversation's row."""

from datetime import timedelta
from typing import Final

from alicia.errors import StandDown
from alicia.ids import ConversationId
from alicia.storage.pool import Connection
from alicia.storage.unfinished import unfinished

QUIET: Final = timedelta(seconds=10)
"""How long an owner may be silent before another agent may take over."""


async def claim(conn: Connection, conversation_id: str, agent_id: str, quiet: timedelta = QUIET) -> bool:
    """Take or renew the lease; False while another agent holds it and was heard of lately."""
    cursor = await conn.execute(
        """
        UPDATE alicia_conversations
           SET agent_id = %(agent_id)s,
               agent_seen_at = now() AT TIME ZONE 'utc'
         WHERE id = %(conversation_id)s
           AND (agent_id IS NULL OR agent_id = %(agent_id)s
                OR agent_seen_at < (now() AT TIME ZONE 'utc') - %(quiet)s)
        """,
        {"conversation_id": conversation_id, "agent_id": agent_id, "quiet": quiet},
    )
    return cursor.rowcount == 1


async def heartbeat(conn: Connection, conversation_id: str, agent_id: str) -> None:
    """Say that the owner lives; StandDown when the lease is no longer its own. An append does this too."""
    cursor = await conn.execute(
        """
        UPDATE alicia_conversations
           SET agent_seen_at = now() AT TIME ZONE 'utc'
         WHERE id = %s
           AND agent_id = %s
        """,
        (conversation_id, agent_id),
    )
    if cursor.rowcount == 0:
        raise StandDown(f"Another agent serves {conversation_id} now.")


async def release(conn: Connection, conversation_id: str, agent_id: str) -> None:
    """Give the lease up, if it is still held.

    Not while something is unfinished: then it goes stale, and so others find what there is to do.
    """
    async with conn.transaction():
        # What is still being appended is waited for.
        await conn.execute("SELECT FROM alicia_conversations WHERE id = %s FOR UPDATE", (conversation_id,))
        if not await unfinished(conn, conversation_id):
            await conn.execute(
                """
                UPDATE alicia_conversations
                   SET agent_id = NULL,
                       agent_seen_at = NULL
                 WHERE id = %s
                   AND agent_id = %s
                """,
                (conversation_id, agent_id),
            )


async def abandoned(conn: Connection, quiet: timedelta = QUIET, limit: int = 100) -> list[ConversationId]:
    """Conversations with something unfinished and no living owner.

    Unfinished is a message that is pending or streaming, or a user's message that is the newest of its branch
    in a conversation whose owner went away without giving up the lease.
    """
    cursor = await conn.execute(
        """
        SELECT c.id
          FROM alicia_conversations c
         WHERE c.deleted_at IS NULL
           AND (c.agent_id IS NULL OR c.agent_seen_at < (now() AT TIME ZONE 'utc') - %(quiet)s)
           AND c.id IN (SELECT conversation_id
                          FROM alicia_messages
                         WHERE completion_status IN ('pending', 'streaming')
                           AND deleted_at IS NULL)
         UNION
        SELECT c.id
          FROM alicia_conversations c
          JOIN LATERAL (SELECT message_role
                          FROM alicia_messages
                         WHERE conversation_id = c.id
                           AND superseded_by IS NULL
                           AND deleted_at IS NULL
                         ORDER BY sequence_number DESC
                         LIMIT 1) newest ON newest.message_role = 'user'
         WHERE c.agent_id IS NOT NULL
           AND c.agent_seen_at < (now() AT TIME ZONE 'utc') - %(quiet)s
           AND c.deleted_at IS NULL
         LIMIT %(limit)s
        """,
        {"quiet": quiet, "limit": limit},
    )
    return [row[0] for row in await cursor.fetchall()]


async def served(conn: Connection, conversation_ids: list[str], quiet: timedelta = QUIET) -> dict[str, bool]:
    """Whether each of these conversations has a living agent; those without a row are left out."""
    cursor = await conn.execute(
        """
        SELECT id, agent_id IS NOT NULL AND agent_seen_at >= (now() AT TIME ZONE 'utc') - %(quiet)s
          FROM alicia_conversations
         WHERE id = ANY(%(ids)s)
        """,
        {"ids": conversation_ids, "quiet": quiet},
    )
    return {row[0]: row[1] for row in await cursor.fetchall()}
