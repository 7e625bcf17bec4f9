"""How a user wants to be spoken with in every conversation that does not say otherwise."""

from typing import Any, Final

import msgspec

from alicia.storage.changes import announce
from alicia.storage.meta import set_meta, settings, user_ref
from alicia.storage.pool import Connection

OFF: Final = "off"


class Wishes(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Named like a conversation's preferences; as a map it has only what differs from the defaults."""

    voice: str | None = None
    speed: float = 1.0
    language: str | None = None
    recording: bool = True


async def wishes(conn: Connection, user: str) -> Wishes:
    """What this user wants."""
    stored = await settings(conn, user)
    return Wishes(
        voice=stored.get("voice"),
        speed=float(stored.get("speed", 1.0)),
        language=stored.get("language"),
        recording=stored.get("recording") != OFF,
    )


async def wish(conn: Connection, user: str, key: str, value: Any) -> None:
    """Make a wish, or take it back with None; open conversations hear of it when the transaction commits."""
    if key == "recording":
        value = OFF if value is False else None
    ref = user_ref(user)
    await set_meta(conn, ref, key, value or None)
    await announce(conn, ref)
