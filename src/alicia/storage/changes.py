"""How whoever changes a conversation's rows outside the ledger tells the agent that serves it."""

from collections.abc import AsyncGenerator, Sequence
from typing import Final

from msgspec import Struct
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_all

CHANNEL: Final = "alicia_changes"


async def announce(conn: Connection, conversation_id: str) -> None:
    """Tell listeners, when this transaction commits, to look at the conversation again."""
    await conn.execute("SELECT pg_notify(%s, %s)", (CHANNEL, conversation_id))


class State(Struct, frozen=True, kw_only=True):
    """What of a conversation's rows others than its agent change; `digest` differs when they did."""

    id: str
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
        SELECT c.id, md5(concat_ws(chr(31), c.title, c.status, c.preferences::text)) AS digest,
               EXISTS (SELECT FROM alicia_meta m WHERE m.ref = c.id AND m.key = %s) AS erased
          FROM alicia_conversations c
         WHERE c.id = ANY(%s)
        """,
        (pending_key, list(conversation_ids)),
    )


async def listen(conn: Connection) -> AsyncGenerator[str]:
    """The ids of changed conversations as they come; needs a connection of its own, not one of a pooler's."""
    await conn.execute("LISTEN alicia_changes")
    async for notification in conn.notifies():
        yield notification.payload
