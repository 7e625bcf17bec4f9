"""How whoever changes a conversation's rows outside the ledger tells the agent that serves it."""

from collections.abc import AsyncGenerator
from typing import Final

from alicia.storage.pool import Connection

CHANNEL: Final = "alicia_changes"


async def announce(conn: Connection, conversation_id: str) -> None:
    """Tell listeners, when this transaction commits, to look at the conversation again."""
    await conn.execute("SELECT pg_notify(%s, %s)", (CHANNEL, conversation_id))


async def listen(conn: Connection) -> AsyncGenerator[str]:
    """The ids of changed conversations as they come; needs a connection of its own, not one of a pooler's."""
    await conn.execute("LISTEN alicia_changes")
    async for notification in conn.notifies():
        yield notification.payload
