"""Whether memory may be used, and the lock under which one owner's is compared and written."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from alicia.storage.meta import set_meta, user_ref
from alicia.storage.pool import Connection, Pool

SETTING: Final = "memory"
"""The key of the user's setting, and the name of the conversation's preference."""


async def memory_is_on(conn: Connection, owner: str, conversation_id: str | None = None) -> bool:
    """Whether neither the user nor the conversation has switched memory off."""
    cursor = await conn.execute(
        """
        SELECT NOT EXISTS (SELECT
                             FROM alicia_meta
                            WHERE ref = %(ref)s
                              AND key = %(key)s
                              AND value = 'off'
                              AND deleted_at IS NULL)
           AND NOT EXISTS (SELECT
                             FROM alicia_conversations
                            WHERE id = %(conversation_id)s
                              AND preferences -> %(key)s = 'false')
        """,
        {"ref": user_ref(owner), "key": SETTING, "conversation_id": conversation_id},
    )
    row = await cursor.fetchone()
    return row is not None and row[0] is True


async def switch_memory(conn: Connection, owner: str, on: bool) -> None:
    """Switch memory on or off for all of a user's conversations."""
    await set_meta(conn, user_ref(owner), SETTING, None if on else "off")


@asynccontextmanager
async def only_writer(pool: Pool, owner: str) -> AsyncGenerator[None]:
    """Hold off whoever else would compare and write this owner's memories, in any process."""
    async with pool.connection() as conn, conn.transaction():
        await conn.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended('alicia memory ' || %s, 0))", (owner,)
        )
        yield
