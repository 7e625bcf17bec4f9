"""How fast recall is: for one owner as other people's memories grow, and as the owner's own do.

    .venv/bin/python bench/memory_speed.py
    .venv/bin/python bench/memory_speed.py own [SIZE …]
    .venv/bin/python bench/memory_speed.py others [SIZE …] [--folder DIR]

Texts are made of templates, vectors by the embedded model and by mixing two of its vectors. Times are those
of a whole recall but for the query's embedding, which is timed apart. Exact is the same recall with every
memory of the owner compared.

With `others`, each question is put in turn to a database that holds the owner's memories alone and to one
that holds other people's too, so that the ratio does not depend on what else the machine does. That database
takes some 8 GiB at a million and grows from size to size; with DIR it is kept, and a later run goes on with
it. An owner of 1,000 is compared exactly, without the graph, so none is built there.

The tables are printed and written to bench/results/memory_speed.md, each in the place of the one before.
"""

import argparse
import asyncio
import contextlib
import statistics
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct
from psycopg import AsyncConnection, sql
from psycopg.rows import TupleRow

from alicia.local.embedder import LocalEmbedder
from alicia.local.postgres import Postgres
from alicia.memory.query import Query
from alicia.memory.ranking import Weighted, rank, rarity
from alicia.memory.recall import SEEDS, Searcher
from alicia.storage import recall
from alicia.storage.memories import Embedding
from alicia.storage.migrate import migrate
from alicia.storage.pool import Connection, Pool, make_pool
from alicia.storage.seeds import Filter, Wanted, searching, seeds
from machine import keep
from made_memories import Base, Prepared, add, copy_base, questions, sentences

RESULTS = Path(__file__).parent / "results" / "memory_speed.md"
STEP = 100_000
ASKED = 200
WARM = 40
COMPARED = 20


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
        async with pool.connection() as conn, searching(conn):
            wanted = Wanted(vector=vector)
            all_near = set(await seeds(conn, owner, wanted, limit=SEEDS, exactly=True))
            near.append(len(all_near & set(await seeds(conn, owner, wanted, limit=SEEDS))) / SEEDS)
            exactly.append(memory_id in await exact(conn, vector, owner, query))
        found = await Searcher(pool, embedder).search(owner, Query(message=query), limit=10)
        ours.append(memory_id in [one.memory.id for one in found])
    return statistics.mean(near), statistics.mean(ours), statistics.mean(exactly)


class Side:
    """A database and the one connection through which it is asked."""

    def __init__(self, server: Postgres, name: str) -> None:
        self.url = server.url(name)
        self.taken: list[float] = []
        self._pool = make_pool(self.url, max_size=1)

    async def __aenter__(self) -> "Side":
        await self._pool.open()
        async with self._pool.connection() as conn:
            cursor = await conn.execute("SELECT pg_backend_pid()")
            row = await cursor.fetchone()
            assert row
            self._backend = Path(f"/proc/{row[0]}/schedstat")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.close()

    def searcher(self, embedder: Prepared) -> Searcher:
        self.taken = []
        return Searcher(self._pool, embedder)

    def spent(self) -> float:
        """Processor milliseconds of PostgreSQL for this side."""
        return int(self._backend.read_text().split()[0]) / 1e6

    @property
    def p50(self) -> float:
        return statistics.median(self.taken)

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.taken, n=20)[-1]


async def compare(alone: Side, crowd: Side, embedder: Prepared, queries: Sequence[str]) -> str:
    """Put the questions to both in turn; how the times stand to each other."""
    searchers = [(side, side.searcher(embedder)) for side in (alone, crowd)]
    for query in queries[:WARM]:
        for _, searcher in searchers:
            await searcher.search("one", Query(message=query), limit=10)
    before = [side.spent() for side, _ in searchers]
    for query in queries:
        for side, searcher in searchers:
            began = time.perf_counter()
            await searcher.search("one", Query(message=query), limit=10)
            side.taken.append(1000 * (time.perf_counter() - began))
    first, second = (side.spent() - at for (side, _), at in zip(searchers, before, strict=True))
    return (
        f"{alone.p50:.1f} ms | {crowd.p50:.1f} ms | {crowd.p50 / alone.p50:.2f} × | "
        f"{crowd.p95 / alone.p95:.2f} × | {second / first:.2f} ×"
    )


async def grow_others(
    server: Postgres, base: Base, embedder: Prepared, queries: Sequence[str], sizes: Sequence[int]
) -> list[str]:
    lines = [
        "| other people's memories | p50 without | p50 with | ratio | of p95 | of PostgreSQL's processor |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for name in ("alone", "crowd"):
        await prepare_database(server, name, base)
    async with Side(server, "alone") as alone, Side(server, "crowd") as crowd:
        for size in sizes:
            async with await AsyncConnection.connect(crowd.url, autocommit=True) as conn:
                stored = await count(conn, "others%") if size else 0
                for start in range(stored, size, STEP):
                    # Steps keep a transaction, and what it holds in memory, small.
                    await add(conn, f"others-{start}#", min(STEP, size - start))
                await conn.execute("VACUUM ANALYZE alicia_memory")
            lines.append(f"| {size:,} | {await compare(alone, crowd, embedder, queries)} |")
            print(lines[-1], flush=True)
    return lines


async def count(conn: AsyncConnection[TupleRow], owners: str) -> int:
    cursor = await conn.execute("SELECT count(*) FROM alicia_memory WHERE created_by LIKE %s", (owners,))
    row = await cursor.fetchone()
    return row[0] if row else 0


async def prepare_database(server: Postgres, name: str, base: Base) -> None:
    """A database with the sentences and the one owner's memories, unless it is there from an earlier run."""
    async with await AsyncConnection.connect(server.url("postgres"), autocommit=True) as conn:
        cursor = await conn.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,))
        if await cursor.fetchone():
            return
        await conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    await migrate(server.url(name))
    async with await AsyncConnection.connect(server.url(name), autocommit=True) as conn:
        await conn.execute("DROP INDEX alicia_memory_nearest_384")
        await copy_base(conn, base)
        await add(conn, "one", 1000)
        await conn.execute("VACUUM ANALYZE alicia_memory")


async def grow_own(
    server: Postgres, base: Base, embedder: Prepared, queries: Sequence[str], sizes: Sequence[int]
) -> list[str]:
    lines = [
        "| own memories | p50 | p95 | processor | nearest | asked-for found | exactly | graph | words |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    await migrate(server.url("postgres"))
    async with make_pool(server.url("postgres")) as pool, pool.connection() as conn:
        await copy_base(conn, base)
        stored = 0
        for own in sizes:
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


@asynccontextmanager
async def open_server(folder: Path | None) -> AsyncGenerator[Postgres]:
    with TemporaryDirectory() as temporary:
        place = folder or Path(temporary)
        server = Postgres(place, password="bench", settings={"fsync": "off", "max_wal_size": "4GB"})
        await server.initialise()
        await server.start()
        try:
            await server.ready()
            yield server
        finally:
            await server.stop()


async def run(which: str, sizes: Sequence[int], folder: Path | None) -> str:
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
    async with open_server(folder) as server:
        if which == "others":
            lines = await grow_others(server, base, embedder, queries, sizes)
            return "## An owner of 1,000 memories, as other people's grow\n\n" + "\n".join(lines)
        lines = await grow_own(server, base, embedder, queries, sizes)
    note = f"Embedding a query, not in these times: p50 {statistics.median(alone):.1f} ms."
    return f"## One owner, as the owner's own grow\n\n{note}\n\n" + "\n".join(lines)


def write(part: str) -> None:
    """Put a table in the place of the one before; its rows of other sizes stay."""
    old = RESULTS.read_text("utf-8").split("\n## ")[1:] if RESULTS.exists() else []
    parts = {one.splitlines()[0]: f"## {one.strip()}" for one in old}
    title = part.splitlines()[0].removeprefix("## ")
    rows = {
        size(line): line
        for line in [*parts.get(title, "").splitlines(), *part.splitlines()]
        if size(line) >= 0
    }
    head = [line for line in part.splitlines() if size(line) < 0]
    parts[title] = "\n".join([*head, *(rows[each] for each in sorted(rows))])
    text = "\n\n".join(["# Memory: speed of recall", "`bench/memory_speed.py`", *parts.values()])
    keep(RESULTS, text)


def size(line: str) -> int:
    """How many memories a row of a table is about, less than none for any other line."""
    first = line.removeprefix("| ").partition(" |")[0].replace(",", "")
    return int(first) if first.isdigit() else -1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("which", choices=["own", "others"], nargs="?", help="both, unless one is named")
    parser.add_argument("sizes", type=int, nargs="*")
    parser.add_argument("--folder", type=Path, help="where the database is kept for a later run")
    arguments = parser.parse_args()
    usual = {"own": (1000, 10_000, 100_000), "others": (0, 1000, 10_000, 100_000, 1_000_000)}
    for which in [arguments.which] if arguments.which else usual:
        write(asyncio.run(run(which, arguments.sizes or usual[which], arguments.folder)))
    print(f"\n{RESULTS.read_text('utf-8')}")


if __name__ == "__main__":
    main()
