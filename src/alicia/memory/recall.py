"""Recall: the memories of one owner that fit a query, best first, and why they do."""

import asyncio
import math
import time
from collections import OrderedDict
from itertools import combinations
from typing import Any, Final

import structlog
from msgspec import Struct

from alicia.errors import ModelUnavailable
from alicia.memory.embeddings import Embedder
from alicia.memory.query import Query
from alicia.memory.ranking import REACH, Ranked, Weighted, rank, rarity
from alicia.storage import recall, seeds
from alicia.storage.memories import Embedding, Memory
from alicia.storage.pool import Connection, Pool
from alicia.storage.seeds import MOST_SETS, Filter, Wanted

log = structlog.stdlib.get_logger(__name__)

FEW: Final = 5000
"""An owner with no more memories is searched exactly; HNSW would be no faster, and loses some."""

SEEDS: Final = 20
"""How many memories each search brings; what stands around them is looked at too."""

_WEIGHED: Final = 400
"""How many memories the words that are looked up may have together; commoner ones only add to scores."""

_WORDS: Final = 24
_CONTEXT_SHARE: Final = 0.5
_ENOUGH: Final = 200
_COUNT_AGAIN: Final = 60.0
_VOCABULARIES: Final = 32
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

    def __init__(self, pool: Pool, embedder: Embedder, *, patience: float = 1.0, few: int = FEW) -> None:
        self._pool = pool
        self._embedder = embedder
        self._patience = patience
        self._few = few
        self._vocabularies: OrderedDict[str, tuple[float, recall.Vocabulary]] = OrderedDict()

    async def search(
        self,
        owner: str,
        query: Query,
        *,
        only: Filter = _EVERYTHING,
        limit: int = 10,
        vector: Embedding | None = None,
    ) -> list[Found]:
        """The memories that fit best. There is no floor: the last ones may hardly fit.

        `vector` is the query's, where the caller has it already.
        """
        # No connection is held while the embedder works: it may take as long as its patience.
        vector = vector or await self._embed(query.meant)
        async with self._pool.connection() as conn, seeds.searching(conn):
            sampled, size = await self._sample(conn, owner, query)
            if not sampled.size:
                return []
            words = _weigh(sampled)
            any_of, all_of = choose_words(sampled, size)
            wanted = Wanted(
                vector=vector,
                any_of=any_of,
                all_of=all_of,
                weights={word.word: word.weight for word in words},
                average_length=sampled.average_length,
                only=only,
            )
            found = await seeds.seeds(conn, owner, wanted, limit=SEEDS, exactly=size <= self._few)
            named = [word.word for word in words]
            rows = await recall.surroundings(conn, owner, found, named, vector, only, REACH)
            ranked = rank(rows, words, sampled.average_length, limit)
            memories = await recall.memories_by_id(conn, owner, [one.id for one in ranked])
        return [Found(memory=memories[one.id], ranked=one) for one in ranked if one.id in memories]

    async def _embed(self, text: str) -> Embedding | None:
        """The query's vector, or None when there is none in time."""
        try:
            async with asyncio.timeout(self._patience):
                return (await self._embedder.embed([text]))[0]
        except (ModelUnavailable, TimeoutError) as error:
            log.warning("recall without vectors", error=type(error).__name__)
            return None

    async def _sample(self, conn: Connection, owner: str, query: Query) -> tuple[recall.Sample, int]:
        """How common the query's words are among an owner's memories, and how many these are.

        Few are counted exactly. Of many, what was counted a minute ago serves: it is a sample anyway.
        """
        counted, known = self._vocabularies.get(owner, (0.0, None))
        if known is None or time.monotonic() - counted > _COUNT_AGAIN:
            sampled = await recall.sample(conn, owner, query.message, query.context)
            if sampled.size < recall.SAMPLE:
                self._vocabularies.pop(owner, None)
                return sampled, sampled.size
            known = await recall.vocabulary(conn, owner)
            self._vocabularies[owner] = (time.monotonic(), known)
            if len(self._vocabularies) > _VOCABULARIES:
                self._vocabularies.popitem(last=False)
        self._vocabularies.move_to_end(owner)
        words = await recall.words_of(conn, query.message, query.context)
        return known.sample(words), known.memories


def _weigh(sampled: recall.Sample) -> list[Weighted]:
    """The rarest words, rarest first, each by how rare it is; those of the context count half."""
    counts = sorted(sampled.words, key=lambda count: count.memories)[:_WORDS]
    # Among a handful of memories every word is common. What is known of so few is no more than a hint.
    total = max(sampled.size, _ENOUGH)
    scale = math.sqrt(total / sampled.size)
    return [
        Weighted(count.word, (1.0 if count.own else _CONTEXT_SHARE) * rarity(scale * count.memories, total))
        for count in counts
    ]


def choose_words(sampled: recall.Sample, size: int) -> tuple[list[str], list[list[str]]]:
    """Which words to look up: any of the rare ones, and common ones only where several stand together.

    So no more than some hundred memories are weighed, however many have a word; those with several of a
    query's words are the ones that matter.
    """
    shares = sorted((count.memories / sampled.size, count.word) for count in sampled.words)
    any_of: list[str] = []
    left = float(_WEIGHED)
    while shares and shares[0][0] * size <= left:
        share, word = shares.pop(0)
        left -= share * size
        any_of.append(word)
    all_of: list[list[str]] = []
    pairs = combinations(shares[:4], 2)
    for expected, words in sorted((one[0] * two[0] * size, [one[1], two[1]]) for one, two in pairs):
        if len(all_of) < MOST_SETS and expected <= left:
            left -= expected
            all_of.append(words)
    if shares and not any_of and not all_of:
        all_of = [[word for _, word in shares[:MOST_SETS]]]
    return any_of, all_of
