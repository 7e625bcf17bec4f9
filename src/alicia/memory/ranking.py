"""How well a memory fits a query: its meaning, its words, what stands around it, and its standing.

No I/O. Rank fusion throws away by how much one memory beats another, so the scores themselves are added.
Both parts look at a memory's surroundings: meaning as a mean, since a passage is about one thing; words as
the best that each word of the query finds, since a name said one line earlier need not be said again.
"""

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from alicia.ids import MemoryId
from alicia.storage.recall import Surrounding

MEANING_AROUND: Final = (1.0, 0.4, 0.2)
WORDS_AROUND: Final = (1.0, 0.7, 0.5, 0.3)
REACH: Final = max(len(MEANING_AROUND), len(WORDS_AROUND)) - 1
"""How many positions away a memory still counts."""

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
    rows: Sequence[Surrounding], words: Sequence[Weighted], average_length: float, now: datetime
) -> list[Ranked]:
    """The eligible rows, best first. Rows that are not eligible count as surroundings only."""
    meanings, matches = _around(rows, words, average_length)
    said = sum(word.weight for word in words)
    ranked: list[Ranked] = []
    for index, row in enumerate(rows):
        if not row.eligible:
            continue
        found = sum(words[word].weight * share for word, share in matches[index].items())
        fit = min(1.0, found / (said + _LITTLE_SAID))
        meaning = min(1.0, max(0.0, meanings[index]))
        merit = standing(row, now)
        ranked.append(
            Ranked(
                id=row.id,
                score=min(1.0, (meaning + fit) / 2 * merit),
                meaning=meaning,
                words=fit,
                standing=merit,
                similarity=row.similarity,
                pinned=row.pinned,
            )
        )
    return sorted(ranked, key=lambda one: (-one.score, one.id))


def standing(row: Surrounding, now: datetime) -> float:
    """What a memory is worth apart from the query: importance, confidence, rating and recency.

    It is 1 for one of middling importance, full confidence and no rating that is old; each part moves it by
    a tenth or two, so that it decides between memories that fit alike.
    """
    age = max(0.0, (now - row.created_at).total_seconds() / 86400)
    importance = 1 + 0.2 * (2 * row.importance - 1)
    confidence = 0.7 + 0.3 * row.confidence
    rating = 1 + 0.1 * (row.user_rating - 3) if row.user_rating else 1.0
    recency = 1 + 0.1 * 2 ** (-age / _HALF_LIFE_DAYS)
    return importance * confidence * rating * recency


def _around(
    rows: Sequence[Surrounding], words: Sequence[Weighted], average_length: float
) -> tuple[list[float], list[dict[int, float]]]:
    """For each row the mean cosine around it, and for each word of the query the best share found there."""
    sums = [0.0] * len(rows)
    totals = [0.0] * len(rows)
    matches: list[dict[int, float]] = [{} for _ in rows]
    places: dict[tuple[str, float], list[int]] = {}
    for index, row in enumerate(rows):
        if row.position is not None:
            places.setdefault((row.source, row.position), []).append(index)
    for row_index, row in enumerate(rows):
        length = 1 - _LENGTH_SHARE + _LENGTH_SHARE * row.length / average_length
        own = (_SATURATION + 1) / (1 + _SATURATION * length)
        for distance in range(-REACH, REACH + 1) if row.position is not None else (0,):
            steps = abs(distance)
            if row.position is None:
                reached = [row_index]
            else:
                reached = places.get((row.source, row.position + distance), ())
            for index in reached:
                if row.similarity is not None and steps < len(MEANING_AROUND):
                    sums[index] += MEANING_AROUND[steps] * row.similarity
                    totals[index] += MEANING_AROUND[steps]
                if row.words and steps < len(WORDS_AROUND):
                    share = WORDS_AROUND[steps] * own
                    for word in row.words:
                        if share > matches[index].get(word, 0.0):
                            matches[index][word] = share
    # Without a vector of its own, a memory's meaning is unknown, whatever stands around it.
    return [
        total and sums[index] / total if rows[index].similarity is not None else 0.0
        for index, total in enumerate(totals)
    ], matches
