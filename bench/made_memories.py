"""Memories by the hundred thousand, made of templates and of mixed vectors."""

import random
from collections.abc import Sequence

from msgspec import Struct
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from alicia.storage.memories import Embedding

PEOPLE = (
    "Anna Ben Carla Deniz Emil Farah Goran Hana Ivo Jana Kofi Lena Milo Nadia Omar Petra Quinn Rosa Sami Tara"
)
DOES = (
    "bought sold lost found repaired painted borrowed photographed described dreamt_of complained_about "
    "forgot planned cooked wrote_about read learned_about visited cancelled recommended"
)
WHAT = (
    "bicycle violin recipe garden contract kitchen novel passport camera puppy telescope sweater boat "
    "lecture mortgage allergy marathon concert wedding headache spreadsheet aquarium thesis volcano sofa "
    "laptop umbrella orchard sourdough motorcycle appointment surgery scholarship piano trailer birthday "
    "tournament tattoo"
)
WHERE = (
    "Lisbon Oslo Kyoto Nairobi Quito Dublin Tbilisi Perth Ghent Turin the_office the_harbour the_mountains "
    "the_library school hospital the_market the_airport home the_forest"
)
WHEN = (
    "yesterday last_spring on_Tuesday in_1998 before_Christmas after_work every_Sunday last_night in_July "
    "soon"
)
WHY = (
    "because_it_was_cheap to_please_a_friend for_the_children out_of_boredom after_a_long_quarrel by_mistake "
    "with_great_care against_all_advice for_the_third_time without_telling_anyone"
)


RARE = 20_000
"""How many made-up words there are beside those; like in any text, most of them are rare."""


def sentences(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    lists = [part.split() for part in (PEOPLE, DOES, WHAT, WHERE, WHEN, WHY)]
    made: list[str] = []
    for _ in range(count):
        who, does, what, where, when, why = (chance.choice(words).replace("_", " ") for words in lists)
        made.append(f"{who} {does} the {what} in {where} {when}, {why}.")
    return made


def questions(count: int, seed: int) -> list[str]:
    """Sentences with two of the made-up words, as common or rare as they are in memories."""
    chance = random.Random(seed)
    words = [f"zq{int(RARE ** chance.random())}x" for _ in range(2 * count)]
    return [f"{text} {words[2 * n]} {words[2 * n + 1]}" for n, text in enumerate(sentences(count, seed))]


class Base(Struct, frozen=True):
    """The sentences that memories are made of."""

    texts: list[str]
    vectors: list[Embedding]


class Prepared:
    """An embedder whose vectors were made before."""

    model = "minilm-l6-v2-int8"

    def __init__(self, vectors: dict[str, Embedding]) -> None:
        self._vectors = vectors

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        return [self._vectors[text] for text in texts]


async def add(conn: AsyncConnection[TupleRow], owner: str, count: int) -> None:
    """Give memories to an owner, or to owners of a thousand each for a name that ends in #.

    Five in a row have a topic in common: a part of their meaning.
    """
    await conn.execute(
        """
        INSERT INTO alicia_memory (content, embeddings, embeddings_info, created_by, source_type, source_info)
        SELECT own.content || (SELECT string_agg(' zq' || floor(%(rare)s ^ random())::int || 'x', '')
                                 FROM generate_series(1, 4 + 0 * picks.n)),
               l2_normalize(own.embeddings + topic.embeddings), own.info,
               CASE WHEN right(%(owner)s, 1) = '#' THEN %(owner)s || picks.n / 1000 ELSE %(owner)s END,
               'note', jsonb_build_object('position', picks.n, 'own', picks.own)
          FROM (SELECT n, (random() * 3999)::int AS own, abs(hashint4(n / 5)) %% 4000 AS topic
                  FROM generate_series(1, %(count)s) n) picks
          JOIN base own ON own.n = picks.own
          JOIN base topic ON topic.n = picks.topic
        """,
        {"owner": owner, "count": count, "rare": RARE},
    )


async def copy_base(conn: AsyncConnection[TupleRow], base: Base) -> None:
    await conn.execute(
        "CREATE UNLOGGED TABLE base (n integer PRIMARY KEY, content text, embeddings vector, info jsonb)"
    )
    async with conn.cursor() as cursor, cursor.copy("COPY base FROM STDIN") as copy:
        for number, (text, vector) in enumerate(zip(base.texts, base.vectors, strict=True)):
            info = '{"model": "minilm-l6-v2-int8", "dimension": 384}'
            await copy.write_row((number, text, vector.padded, info))
