"""Leaving a LiveKit room without a panic."""

import asyncio
import atexit
import contextlib
import time
from collections.abc import Iterable
from typing import Any

from livekit import rtc
from livekit.rtc.participant import UnpublishTrackError

_PATIENCE = 5.0
_LAST_WORDS = 0.1


@atexit.register
def _hear_the_last_words() -> None:
    """Give threads of the SDK that are just calling Python the time to come back.

    They are ended by an interpreter that ends, which makes the SDK abort the process. Its own farewell, which
    is registered when the first room is made and so runs before this, lets no new ones begin.
    """
    time.sleep(_LAST_WORDS)


async def leave(
    room: rtc.Room, *, tasks: Iterable[asyncio.Task[Any]] = (), sources: Iterable[rtc.AudioSource] = ()
) -> None:
    """Disconnect from a room in the only order that the SDK survives.

    `tasks` are all that use the room or feed a source; `sources` all that were published. A frame that is
    still being captured when its source or its room goes away makes the SDK abort the whole process, so first
    the tasks end, then what they queued plays out, then tracks and sources go, and the room last.
    """
    tasks, sources = list(tasks), list(sources)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for source in sources:
        await source.wait_for_playout()
    if room.isconnected():
        for sid in list(room.local_participant.track_publications):
            # The room may be lost at any moment; then there is nothing to unpublish, and nobody answers.
            with contextlib.suppress(UnpublishTrackError, TimeoutError):
                async with asyncio.timeout(_PATIENCE):
                    await room.local_participant.unpublish_track(sid)
    for source in sources:
        await source.aclose()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            await room.disconnect()
