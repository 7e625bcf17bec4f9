"""Hears of what the API changes in conversations that are open here, so that their devices hear of it too."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, Protocol

import psycopg
import structlog
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from alicia.ledger.notes import PENDING_ERASURE
from alicia.storage.changes import CHANNEL, states

log = structlog.get_logger(__name__)

POLL_SECONDS: Final = 2.0
"""Notifications come at once, but none come through a pooler, so the rows are also looked at this often."""
AGAIN_SECONDS: Final = 1.0


class Open(Protocol):
    """A conversation that lives here."""

    def notice(self) -> None:
        """Look at the rows again, and tell the devices."""
        ...


async def watch(url: str, conversations: Callable[[], Mapping[str, Open]], *, pooler: bool = False) -> None:
    """Forever, on a connection of its own; `conversations` are those that are open now, by their ids."""
    known: dict[str, str] = {}
    while True:
        try:
            # A prepared statement would be sought on another server connection behind a pooler.
            connecting = AsyncConnection.connect(url, autocommit=True, prepare_threshold=None)
            async with await connecting as conn:
                if not pooler:
                    await conn.execute("LISTEN alicia_changes")
                while True:
                    known = await _round(conn, conversations, known)
        except psycopg.OperationalError as error:
            log.warning("changes not heard", reason=type(error).__name__)
            await asyncio.sleep(AGAIN_SECONDS)


async def _round(
    conn: AsyncConnection[TupleRow],
    conversations: Callable[[], Mapping[str, Open]],
    known: Mapping[str, str],
) -> dict[str, str]:
    """Wait for one notification, or a while; then look at all that is open here. Returns how it stands."""
    named = {
        note.payload
        async for note in conn.notifies(timeout=POLL_SECONDS, stop_after=1)
        if note.channel == CHANNEL
    }
    here = conversations()
    if not here:
        return {}
    digests: dict[str, str] = {}
    for state in await states(conn, list(here), PENDING_ERASURE):
        digests[state.id] = state.digest
        changed = known.get(state.id, state.digest) != state.digest or named & {state.id, state.user_ref}
        if (changed or state.erased) and state.id in here:
            here[state.id].notice()
    return digests
