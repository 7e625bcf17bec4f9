"""How fast recall is: for one owner as other people's memories grow, and as the owner's own do.

    .venv/bin/python bench/memory_speed.py [--others 1000000] [--own 100000]

Texts are made of templates, vectors by the embedded model and by mixing two of its vectors. Times are those
of a whole recall but for the query's embedding, which is timed apart. Exact is the same recall with every
memory of the owner compared. The tables are printed and written to bench/results/memory_speed.md.
"""

import argparse
import asyncio
import contextlib
import random
import secrets
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from alicia.local.embedder import LocalEmbedder
from alicia.local.postgres import Postgres
from alicia.memory.query import Query
from alicia.memory.ranking import Weighted, rank, rarity
from alicia.memory.recall import SEEDS, Searcher
from alicia.storage import recall
from alicia.storage.memories import Embedding
from alicia.storage.migrate import migrate
from alicia.storage.pool import Connection, Pool, make_pool
from alicia.storage.seeds import Filter, Wanted, prepare, seeds

RESULTS = Path(__file__).parent / "results" / "memory_speed.md"
ASKED = 200
WARM = 40
COMPARED = 20

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


async def add(conn: Connection, owner: str, count: int) -> None:
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


async def without_indexes(conn: Connection) -> None:
    await conn.execute("DROP INDEX IF EXISTS alicia_memory_nearest_384, alicia_memory_words")


async def build(conn: Connection) -> tuple[float, float, int, int]:
    """Build what is costly to keep while rows pour in; seconds and bytes of the graph and of the words."""
    await conn.execute("SET maintenance_work_mem = '2GB'")
    began = time.perf_counter()
    await conn.execute(
        """
        CREATE INDEX alicia_memory_nearest_384 ON alicia_memory
            USING hnsw ((embeddings_search::halfvec(400)) halfvec_cosine_ops)
            WHERE embeddings_info ->> 'dimension' = '384'
        """
    )
    graph = time.perf_counter() - began
    await conn.execute(
        """
        CREATE INDEX alicia_memory_words ON alicia_memory
            USING gin (alicia_words(created_by, content_search)) WITH (fastupdate = off)
        """
    )
    words = time.perf_counter() - began - graph
    await conn.execute("VACUUM ANALYZE alicia_memory")
    cursor = await conn.execute(
        "SELECT pg_relation_size('alicia_memory_nearest_384'), pg_relation_size('alicia_memory_words')"
    )
    row = await cursor.fetchone()
    assert row
    return graph, words, row[0], row[1]


class Times(Struct, frozen=True):
    """Milliseconds of a recall: median, 95th percentile, and what it takes of a processor here and there."""

    p50: float
    p95: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.p50:.1f} ms | {self.p95:.1f} ms | {self.cpu:.1f} ms"


def busy(server: Postgres) -> float:
    """Processor seconds of this process and of PostgreSQL's, which a crowded machine changes little."""
    spent = time.process_time()
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = status.read_text().rpartition(")")[2].split()
            if int(fields[1]) == server.process.pid:
                spent += int((status.parent / "schedstat").read_text().split()[0]) / 1e9
    return spent


async def times(
    server: Postgres, pool: Pool, embedder: Prepared, owner: str, queries: Sequence[str]
) -> Times:
    searcher = Searcher(pool, embedder)
    for query in queries[:WARM]:
        await searcher.search(owner, Query(message=query), limit=10)
    before = busy(server)
    taken: list[float] = []
    for query in queries:
        began = time.perf_counter()
        await searcher.search(owner, Query(message=query), limit=10)
        taken.append(1000 * (time.perf_counter() - began))
    cpu = 1000 * (busy(server) - before) / len(queries)
    return Times(statistics.median(taken), statistics.quantiles(taken, n=20)[-1], cpu)


async def exact(conn: Connection, vector: Embedding, owner: str, query: str) -> list[str]:
    """What recall would answer if it weighed every memory of the owner, in one pass over all of them."""
    sampled = await recall.sample(conn, owner, query)
    counts = sorted(sampled.words, key=lambda count: count.memories)
    words = [Weighted(count.word, rarity(count.memories, sampled.size)) for count in counts]
    cursor = await conn.execute("SELECT id FROM alicia_memory WHERE created_by = %s", (owner,))
    ids = [row[0] for row in await cursor.fetchall()]
    # All are there already, so nothing more need be read around them.
    rows = await recall.surroundings(conn, owner, ids, [word.word for word in words], vector, Filter(), 0)
    return [one.id for one in rank(rows, words, sampled.average_length, limit=10)]


async def recalls(pool: Pool, base: Base, owner: str) -> tuple[float, float, float]:
    """How much is found: of the exactly nearest; of what was asked for, by recall and by the exact one.

    Asked for is a memory by its own sentence and two of its made-up words.
    """
    async with pool.connection() as conn:
        cursor = await conn.execute(
            """
            SELECT id, content, source_info ->> 'own'
              FROM alicia_memory
             WHERE created_by = %s
             ORDER BY md5(id)
             LIMIT %s
            """,
            (owner, COMPARED),
        )
        asked = await cursor.fetchall()
    near: list[float] = []
    ours: list[bool] = []
    exactly: list[bool] = []
    for memory_id, content, own in asked:
        text, vector = base.texts[int(own)], base.vectors[int(own)]
        first, second, *_ = content.removeprefix(text).split()
        query = f"{text} {first} {second}"
        embedder = Prepared({query: vector})
        async with pool.connection() as conn, conn.transaction():
            await prepare(conn)
            wanted = Wanted(vector=vector)
            all_near = set(await seeds(conn, owner, wanted, limit=SEEDS, exactly=True))
            near.append(len(all_near & set(await seeds(conn, owner, wanted, limit=SEEDS))) / SEEDS)
            exactly.append(memory_id in await exact(conn, vector, owner, query))
        found = await Searcher(pool, embedder).search(owner, Query(message=query), limit=10)
        ours.append(memory_id in [one.memory.id for one in found])
    return statistics.mean(near), statistics.mean(ours), statistics.mean(exactly)


async def grow_others(
    server: Postgres, pool: Pool, embedder: Prepared, queries: Sequence[str], most: int
) -> list[str]:
    lines = [
        "| other people's memories | p50 | p95 | processor | against none |",
        "|---:|---:|---:|---:|---:|",
    ]
    async with pool.connection() as conn:
        await add(conn, "one", 1000)
        stored = 0
        first: Times | None = None
        for others in [size for size in (0, 1000, 10_000, 100_000, 1_000_000) if size <= most]:
            await without_indexes(conn)
            if others > stored:
                await add(conn, f"others-{others}#", others - stored)
                stored = others
            await build(conn)
            took = await times(server, pool, embedder, "one", queries)
            first = first or took
            against = f"{took.p50 / first.p50:.2f} × (processor {took.cpu / first.cpu:.2f} ×)"
            lines.append(f"| {others:,} | {took} | {against} |")
            print(lines[-1], flush=True)
    return lines


async def grow_own(
    server: Postgres, pool: Pool, base: Base, embedder: Prepared, queries: Sequence[str], most: int
) -> list[str]:
    lines = [
        "| own memories | p50 | p95 | processor | nearest | asked-for found | exactly | graph | words |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    async with pool.connection() as conn:
        await conn.execute("TRUNCATE alicia_memory CASCADE")
        stored = 0
        for own in [size for size in (1000, 10_000, 100_000) if size <= most]:
            await without_indexes(conn)
            await add(conn, "big", own - stored)
            stored = own
            graph, words, graph_size, words_size = await build(conn)
            took = await times(server, pool, embedder, "big", queries)
            near, ours, exactly = await recalls(pool, base, "big")
            built = (
                f"{graph:.0f} s, {graph_size / 2**20:.0f} MiB | {words:.0f} s, {words_size / 2**20:.0f} MiB"
            )
            found = f"{near:.3f} | {ours:.2f} | {exactly:.2f}"
            lines.append(f"| {own:,} | {took} | {found} | {built} |")
            print(lines[-1], flush=True)
    return lines


async def run(others: int, own: int) -> str:
    texts, queries = sentences(4000, seed=1), questions(ASKED, seed=2)
    async with LocalEmbedder() as model:
        base = Base(texts, await model.embed(texts))
        vectors = dict(zip(queries, await model.embed(queries), strict=True))
        alone: list[float] = []
        for query in queries[:50]:
            began = time.perf_counter()
            await model.embed([query])
            alone.append(1000 * (time.perf_counter() - began))
    embedder = Prepared(vectors)
    with TemporaryDirectory() as folder:
        server = Postgres(Path(folder), password=secrets.token_hex(8), settings={"fsync": "off"})
        await server.initialise()
        await server.start()
        try:
            await server.ready()
            await migrate(server.url("postgres"))
            async with make_pool(server.url("postgres")) as pool:
                async with pool.connection() as conn, conn.cursor() as cursor:
                    await cursor.execute(
                        """
                        CREATE UNLOGGED TABLE base
                            (n integer PRIMARY KEY, content text, embeddings vector, info jsonb)
                        """
                    )
                    async with cursor.copy("COPY base FROM STDIN") as copy:
                        for number, (text, vector) in enumerate(zip(texts, base.vectors, strict=True)):
                            info = '{"model": "minilm-l6-v2-int8", "dimension": 384}'
                            await copy.write_row((number, text, vector.padded, info))
                apart = await grow_others(server, pool, embedder, queries, others)
                alone_lines = await grow_own(server, pool, base, embedder, queries, own)
        finally:
            await server.stop()
    parts = [
        f"Embedding a query, not in these times: p50 {statistics.median(alone):.1f} ms.",
        "An owner of 1,000 memories, as other people's grow:\n\n" + "\n".join(apart),
        "One owner, as the owner's own grow:\n\n" + "\n".join(alone_lines),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--others", type=int, default=1_000_000)
    parser.add_argument("--own", type=int, default=100_000)
    arguments = parser.parse_args()
    text = asyncio.run(run(arguments.others, arguments.own))
    print(f"\n{text}")
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(f"# Memory: speed of recall\n\n`bench/memory_speed.py`\n\n{text}", "utf-8")


if __name__ == "__main__":
    main()
