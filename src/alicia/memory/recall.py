"""Recall: the memories of one owner that fit a query, best first, and why they do."""

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import structlog
from msgspec import Struct

from alicia.errors import ModelUnavailable
from alicia.ids import MemoryId
from alicia.memory.embeddings import Embedder
from alicia.memory.query import Query
from alicia.memory.ranking import REACH, Ranked, Weighted, rank, rarity
from alicia.storage import nearest, recall
from alicia.storage.memories import Embedding, Memory
from alicia.storage.nearest import Filter
from alicia.storage.pool import Connection, Pool

log = structlog.stdlib.get_logger(__name__)

FEW: Final = 5000
"""An owner with no more memories is searched exactly; HNSW would be no faster, and loses some."""

SEEDS: Final = 32
"""How many memories each search brings; what stands around them is looked at too."""

_LONGEST_LISTS: Final = 1500
"""How many memories the chosen words may have together. Commoner words only add to the score of the found."""

_WORDS: Final = 24
_CONTEXT_SHARE: Final = 0.5
_COUNT_AGAIN: Final = 60.0
_EVERYTHING: Final = Filter()


class Found(Struct, frozen=True, kw_only=True):
    """A memory, how well it fits, and how that is made up."""

    memory: Memory
    ranked: Ranked

    @property
    def score(self) -> float:
        """From 0 to 1."""
        return self.ranked.score

    @property
    def parts(self) -> dict[str, Any]:
        """The score explained: half meaning, half words, times standing."""
        ranked = self.ranked
        parts = {"meaning": ranked.meaning, "words": ranked.words, "standing": ranked.standing}
        return {name: round(value, 4) for name, value in parts.items()}


class Searcher:
    """Searches any owner's memories; safe to share. An embedder that fails leaves the search to the words."""

    def __init__(self, pool: Pool, embedder: Embedder, *, patience: float = 1.0) -> None:
        self._pool = pool
        self._embedder = embedder
        self._patience = patience
        self._sizes: dict[str, tuple[float, int]] = {}

    async def search(
        self, owner: str, query: Query, *, only: Filter = _EVERYTHING, limit: int = 10
    ) -> list[Found]:
        """The memories that fit best. There is no floor: the last ones may hardly fit."""
        async with asyncio.TaskGroup() as tasks:
            embedding = tasks.create_task(self.embed(query.text))
            async with self._pool.connection() as conn, conn.transaction():
                words, sampled = await self._words(conn, owner, query)
                if not sampled.size:
                    return []
                vector = await embedding
                seeds = await self._seeds(conn, owner, vector, words, sampled, only)
                rows = await recall.surroundings(
                    conn, owner, seeds, [word.word for word in words], vector, only, REACH
                )
                ranked = rank(rows, words, sampled.average_length, datetime.now(UTC))[:limit]
                memories = await recall.memories_by_id(conn, owner, [one.id for one in ranked])
        return [Found(memory=memories[one.id], ranked=one) for one in ranked if one.id in memories]

    async def embed(self, text: str) -> Embedding | None:
        """The query's vector, or None when there is none in time."""
        try:
            async with asyncio.timeout(self._patience):
                return (await self._embedder.embed([text]))[0]
        except (ModelUnavailable, TimeoutError) as error:
            log.warning("recall without vectors", error=type(error).__name__)
            return None

    async def _words(
        self, conn: Connection, owner: str, query: Query
    ) -> tuple[list[Weighted], recall.Sample]:
        """The query's words, rarest first, each with its weight; the sample counts in the same order."""
        own = await recall.lexemes(conn, query.message)
        context = await recall.lexemes(conn, query.context) if query.context else []
        asked = [*own, *(word for word in context if word not in own)][: 2 * _WORDS]
        sampled = await recall.sample(conn, owner, asked)
        total = max(sampled.size, 1)
        counts = sorted(sampled.words, key=lambda count: count.memories)[:_WORDS]
        shares = dict.fromkeys(context, _CONTEXT_SHARE) | dict.fromkeys(own, 1.0)
        words = [Weighted(count.word, shares[count.word] * rarity(count.memories, total)) for count in counts]
        return words, recall.Sample(size=sampled.size, average_length=sampled.average_length, words=counts)

    async def _seeds(
        self,
        conn: Connection,
        owner: str,
        vector: Embedding | None,
        words: Sequence[Weighted],
        sampled: recall.Sample,
        only: Filter,
    ) -> list[MemoryId]:
        size = await self._size(conn, owner, sampled)
        seeds = await recall.pinned(conn, owner, only, SEEDS)
        if vector is not None:
            find = nearest.nearest_exactly if size <= FEW else nearest.nearest
            seeds += await find(conn, owner, vector, only, SEEDS)
        if keys := _short_lists(sampled, size):
            weights = {word.word: word.weight for word in words}
            average = sampled.average_length
            seeds += await recall.with_words(conn, owner, keys, weights, average, only, SEEDS)
        return list(dict.fromkeys(seeds))

    async def _size(self, conn: Connection, owner: str, sampled: recall.Sample) -> int:
        """How many memories an owner has: exactly for few, as of a minute ago for many."""
        if sampled.size < recall.SAMPLE:
            return sampled.size
        counted, size = self._sizes.get(owner, (0.0, 0))
        if not size or time.monotonic() - counted > _COUNT_AGAIN:
            size = await recall.count_memories(conn, owner)
            self._sizes[owner] = (time.monotonic(), size)
        return size


def _short_lists(sampled: recall.Sample, size: int) -> list[str]:
    """The rarest words, as many as together have not too many memories; the rarest of all in any case."""
    chosen: list[str] = []
    expected = 0.0
    for count in sampled.words:
        expected += count.memories * size / sampled.size
        if chosen and expected > _LONGEST_LISTS:
            break
        chosen.append(count.word)
    return chosen
