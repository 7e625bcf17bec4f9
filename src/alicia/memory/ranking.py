"""How well a memory fits a query: its meaning, its words, what stands around it, and its standing.

No I/O. Rank fusion throws away by how much one memory beats another, so the scores themselves are added.
Both parts look at a memory's surroundings: meaning as a mean, since a passage is about one thing; words as
the best that each word of the query finds, since a name said one line earlier need not be said again.
"""

import math
from collections.abc import Sequence
from operator import mul
from typing import Final

from msgspec import Struct

from alicia.ids import MemoryId
from alicia.storage.recall import Surrounding

MEANING_AROUND: Final = (1.0, 0.4, 0.2)
WORDS_AROUND: Final = (1.0, 0.7, 0.5, 0.3)
REACH: Final = max(len(MEANING_AROUND), len(WORDS_AROUND)) - 1
"""How many positions away a memory still counts."""
_WAYS: Final = [(way, abs(way)) for way in range(-REACH, REACH + 1)]
_MEANING: Final = (*MEANING_AROUND, *[0.0] * (REACH + 1 - len(MEANING_AROUND)))

# BM25 for a word that stands once in a text; memories are short, so how often it does matters little.
_SATURATION: Final = 1.2
_LENGTH_SHARE: Final = 0.5
# A query of one common word must not look as well answered as one of five rare ones.
_LITTLE_SAID: Final = 2.0

_HALF_LIFE_DAYS: Final = 90.0


class Weighted(Struct, frozen=True):
    """A word of the query and what finding it is worth."""

    word: str
    weight: float


class Ranked(Struct, frozen=True, kw_only=True):
    """A memory's score and what it is made of, each from 0 to 1 but `standing`, which is about 1."""

    id: MemoryId
    score: float
    meaning: float
    words: float
    standing: float
    similarity: float | None
    pinned: bool


def rarity(memories: float, total: float) -> float:
    """The inverse document frequency of a word that so many of all memories have."""
    return math.log(1 + (total - memories + 0.5) / (memories + 0.5))


def rank(
    rows: Sequence[Surrounding], words: Sequence[Weighted], average_length: float, limit: int
) -> list[Ranked]:
    """The best of the eligible rows, best first. Rows that are not eligible count as surroundings only."""
    meanings, shares = _around(rows, len(words), average_length)
    weights = [word.weight for word in words]
    said = sum(weights) + _LITTLE_SAID
    scored: list[tuple[float, MemoryId, int, float, float]] = []
    for index, row in enumerate(rows):
        if row.eligible:
            fit = min(1.0, sum(map(mul, weights, shares[index])) / said)
            merit = standing(row)
            score = min(1.0, (meanings[index] + fit) / 2 * merit)
            scored.append((-score, row.id, index, fit, merit))
    return [
        Ranked(
            id=memory_id,
            score=-negative,
            meaning=meanings[index],
            words=fit,
            standing=merit,
            similarity=rows[index].similarity,
            pinned=rows[index].pinned,
        )
        for negative, memory_id, index, fit, merit in sorted(scored)[:limit]
    ]


def standing(row: Surrounding) -> float:
    """What a memory is worth apart from the query: importance, confidence, rating and recency.

    It is 1 for one of middling importance, full confidence and no rating that is old; each part moves it by
    a tenth or two, so that it decides between memories that fit alike.
    """
    importance = 1 + 0.2 * (2 * row.importance - 1)
    confidence = 0.7 + 0.3 * row.confidence
    rating = 1 + 0.1 * (row.user_rating - 3) if row.user_rating else 1.0
    recency = 1 + 0.1 * 2 ** (-max(0.0, row.age) / _HALF_LIFE_DAYS)
    return importance * confidence * rating * recency


def _around(
    rows: Sequence[Surrounding], words: int, average_length: float
) -> tuple[list[float], list[list[float]]]:
    """For each row the mean cosine around it, and for each word of the query the best share found there."""
    sums = [0.0] * len(rows)
    totals = [0.0] * len(rows)
    shares = [[0.0] * words for _ in rows]
    for places in _by_source(rows):
        for position, indexes in places.items():
            near = [(steps, places[position + way]) for way, steps in _WAYS if position + way in places]
            for row in [rows[index] for index in indexes]:
                similarity, held = row.similarity, row.words
                if similarity is not None:
                    for steps, reached in near:
                        weight = _MEANING[steps]
                        if not weight:
                            continue
                        for other in reached:
                            sums[other] += weight * similarity
                            totals[other] += weight
                if held:
                    length = 1 - _LENGTH_SHARE + _LENGTH_SHARE * row.length / average_length
                    own = (_SATURATION + 1) / (1 + _SATURATION * length)
                    for steps, reached in near:
                        share = WORDS_AROUND[steps] * own
                        for other in reached:
                            best = shares[other]
                            for word in held:
                                if share > best[word]:
                                    best[word] = share
    # Without a vector of its own, a memory's meaning is unknown, whatever stands around it.
    meanings = [
        min(1.0, max(0.0, total / weight)) if row.similarity is not None else 0.0
        for row, total, weight in zip(rows, sums, totals, strict=True)
    ]
    return meanings, shares


def _by_source(rows: Sequence[Surrounding]) -> list[dict[float, list[int]]]:
    """For each source its positions and the rows there; a row without a position is a source of its own."""
    sources: dict[str, dict[float, list[int]]] = {}
    alone: list[dict[float, list[int]]] = []
    for index, row in enumerate(rows):
        if row.position is None:
            alone.append({0.0: [index]})
        else:
            sources.setdefault(row.source, {}).setdefault(row.position, []).append(index)
    return [*sources.values(), *alone]
