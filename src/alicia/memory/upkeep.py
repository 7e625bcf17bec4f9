"""Fills gaps: embeds what has no vector of the model in use, in the background, while search goes on.

After a change of model every memory is such a gap. Until it is filled, words alone find it.
"""

import asyncio
from collections.abc import Callable
from typing import Final

import psycopg
import structlog
from psycopg_pool import PoolTimeout

from alicia.errors import ModelUnavailable
from alicia.memory.embeddings import Embedder
from alicia.storage import gaps
from alicia.storage.pool import Pool
from alicia.telemetry import metrics

log = structlog.stdlib.get_logger(__name__)

BATCH: Final = 16

Progress = Callable[[int, int], None]
"""Told how many of how many are done."""


async def fill_gaps(pool: Pool, embedder: Embedder, progress: Progress | None = None) -> int:
    """Embed all that lacks a vector of this model, and say how many; ModelUnavailable when it can not."""
    async with pool.connection() as conn:
        owners = await gaps.owners_with_gaps(conn, embedder.model)
    total, done = sum(owners.values()), 0
    metrics.memories_waiting.set(total)
    if progress:
        progress(0, total)
    for owner in owners:
        while True:
            # Connections are not held while the model works, which may take seconds.
            async with pool.connection() as conn:
                batch = await gaps.gaps(conn, owner, embedder.model, BATCH)
            if not batch:
                break
            vectors = await embedder.embed([gap.content for gap in batch])
            async with pool.connection() as conn, conn.transaction():
                for gap, vector in zip(batch, vectors, strict=True):
                    await gaps.fill(conn, owner, gap, vector)
            done += len(batch)
            metrics.memories_waiting.set(max(total - done, 0))
            if progress:
                progress(done, max(total, done))
    return done


async def keep_filled(pool: Pool, embedder: Embedder, every: float = 60.0) -> None:
    """Fill gaps for ever: now, and then again after so many seconds, longer when the model is away.

    The log tells how far it has come, at each tenth of the way.
    """

    def tell(done: int, total: int) -> None:
        if 10 * done // max(total, 1) > 10 * (done - BATCH) // max(total, 1) and total > 10 * BATCH:
            log.info("memories are being embedded", done=done, total=total, model=embedder.model)

    while True:
        pause = every
        try:
            if filled := await fill_gaps(pool, embedder, tell):
                log.info("memories embedded", count=filled, model=embedder.model)
        except (ModelUnavailable, psycopg.Error, PoolTimeout) as error:
            log.warning("memories wait for their embeddings", error=type(error).__name__)
            pause = 5 * every
        await asyncio.sleep(pause)
