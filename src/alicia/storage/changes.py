"""How whoever changes a conversation's rows outside the ledger tells the agent that serves it."""

from collections.abc import AsyncGenerator, Sequence
from typing import Final

from msgspec import Struct
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_all

CHANNEL: Final = "alicia_changes"


async def announce(conn: Connection, ref: str) -> None:
    """Tell listeners, when this transaction commits, to look at a conversation, or at a user's, again."""
    await conn.execute("SELECT pg_notify(%s, %s)", (CHANNEL, ref))


class State(Struct, frozen=True, kw_only=True):
    """What of a conversation's rows others than its agent change; `digest` differs when they did."""

    id: str
    user_ref: str
    digest: str
    erased: bool
    """Something was erased, and the devices have not been told."""


async def states(
    conn: AsyncConnection[TupleRow], conversation_ids: Sequence[str], pending_key: str
) -> list[State]:
    """How these conversations stand; `pending_key` is the meta key of an erasure that is not told yet."""
    return await fetch_all(
        conn,
        State,
        """
        SELECT c.id, u.user_ref,
               md5(concat_ws(chr(31), c.title, c.status, c.preferences::text,
                             (SELECT string_agg(concat_ws(chr(30), s.key, s.value), chr(31) ORDER BY s.key)
                                FROM alicia_meta s
                               WHERE s.ref = u.user_ref
                                 AND s.deleted_at IS NULL))) AS digest,
               EXISTS (SELECT FROM alicia_meta m WHERE m.ref = c.id AND m.key = %s) AS erased
          FROM alicia_conversations c
         CROSS JOIN LATERAL (SELECT 'user:' || c.user_id AS user_ref) u
         WHERE c.id = ANY(%s)
        """,
        (pending_key, list(conversation_ids)),
    )


async def listen(conn: Connection) -> AsyncGenerator[str]:
    """What was announced, as it comes; needs a connection of its own, not one of a pooler's."""
    await conn.execute("LISTEN alicia_changes")
    async for notification in conn.notifies():
        yield notification.payload
