"""Key and value rows about anything, and the settings of a user."""

from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from alicia.storage.pool import Connection
from alicia.storage.rows import fetch_all


class Meta(Struct, frozen=True, kw_only=True):
    """A row of `alicia_meta`; a value that was not text is JSON."""

    id: str
    ref: str
    key: str
    value: str | None
    created_at: datetime


def text_of(value: Any) -> str:
    """How a value is stored: text as it is, everything else as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


async def meta_of(conn: Connection, *refs: str, key: str | None = None) -> list[Meta]:
    """What is noted about these ids, all or of one key, by ref and key; of one key the latest comes last.

    Of a conversation ask for the key: every stop and every tool's result leaves its span there.
    """
    return await fetch_all(
        conn,
        Meta,
        """
        SELECT id, ref, key, value, created_at
          FROM alicia_meta
         WHERE ref = ANY(%(refs)s)
           AND (%(key)s::text IS NULL OR key = %(key)s)
           AND deleted_at IS NULL
         ORDER BY ref, key, created_at
        """,
        {"refs": list(refs), "key": key},
    )


async def set_meta(conn: Connection, ref: str, key: str, value: Any) -> None:
    """Make this the only value of the key; None removes it."""
    async with conn.transaction():
        await conn.execute("DELETE FROM alicia_meta WHERE ref = %s AND key = %s", (ref, key))
        if value is not None:
            await conn.execute(
                "INSERT INTO alicia_meta (ref, key, value) VALUES (%s, %s, %s)", (ref, key, text_of(value))
            )


async def settings(conn: Connection, user: str) -> dict[str, str]:
    """A user's settings; set them with `set_meta` and `user_ref`."""
    return {row.key: row.value or "" for row in await meta_of(conn, user_ref(user))}


def user_ref(user: str) -> str:
    """What `ref` is for a user's settings."""
    return f"user:{user}"
