"""The commonest reads of the HTTP interface beside a bare FastAPI handler that runs the same SQL.

Both are called in this process, in turns, without a client or a network between, so that the ratio is of the
two handlers alone. Then page 1 of a short and of a long history, and the memory that an export takes.
"""

import argparse
import asyncio
import logging
import statistics
import time
import tracemalloc
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import structlog
from fastapi import FastAPI

from alicia import ids
from alicia.api import archive
from alicia.api.app import create_app
from alicia.config import Config, LiveKitServer
from alicia.storage import conversations, found, memories, messages, tools, traces
from alicia.storage.pool import Connection, Pool, make_pool
from scratch import judge, migrated, scratch_postgres, show

OWNER = "local"
AT_MOST = 1.5


@dataclass(frozen=True)
class Things:
    """Ids of what there is to read."""

    conversation: str
    long: str
    message: str
    memory: str


Read = Callable[[Connection], Awaitable[Any]]


def reads(things: Things) -> dict[str, tuple[str, Read]]:
    """The ten commonest reads: the address here, and the same SQL alone."""
    return {
        "conversations": ("/conversations", lambda conn: conversations.conversations(conn, OWNER, limit=51)),
        "archived": (
            "/conversations?status=archived",
            lambda conn: conversations.conversations(conn, OWNER, status="archived", limit=51),
        ),
        "search": (
            "/conversations?query=mountain&limit=20",
            lambda conn: found.find_conversations(conn, OWNER, "mountain", limit=21),
        ),
        "conversation": (
            f"/conversations/{things.conversation}",
            lambda conn: conversations.conversation(conn, OWNER, things.conversation),
        ),
        "history": (
            f"/conversations/{things.conversation}/messages",
            lambda conn: messages.history(conn, OWNER, things.conversation),
        ),
        "message": (
            f"/conversations/{things.conversation}/messages/{things.message}",
            lambda conn: messages.message(conn, OWNER, things.message),
        ),
        "trace": (
            f"/messages/{things.message}/trace",
            lambda conn: traces.trace(conn, OWNER, things.message),
        ),
        "memories": ("/memories", lambda conn: memories.memories(conn, OWNER, limit=51)),
        "memory": (f"/memories/{things.memory}", lambda conn: memories.memory(conn, OWNER, things.memory)),
        "tools": ("/tools", tools.tools),
    }


async def fill(pool: Pool, long: int) -> Things:
    """Two hundred conversations of fifty messages, a long one, a thousand memories, and ten tools."""
    first, longest = ids.new(ids.ConversationId), ids.new(ids.ConversationId)
    async with pool.connection() as conn:
        await conn.execute(
            """
            INSERT INTO alicia_conversations (id, title, status)
            SELECT generate_random_id('ac'), 'Talk ' || n, (ARRAY['active', 'archived'])[1 + n %% 2]
              FROM generate_series(1, 199) n
             UNION ALL VALUES (%s, 'First', 'active'), (%s, 'Long', 'archived')
            """,
            (first, longest),
        )
        await conn.execute(
            """
            INSERT INTO alicia_messages (conversation_id, sequence_number, message_role, contents)
            SELECT c.id, n, (ARRAY['user', 'assistant'])[1 + n %% 2]::message_role,
                   'What was said about ' || (ARRAY['a mountain', 'the sea', 'rice', 'music'])[1 + n %% 4]
                   || ', at some length, number ' || n
              FROM alicia_conversations c
             CROSS JOIN LATERAL generate_series(1, CASE c.title WHEN 'Long' THEN %s ELSE 50 END) n
            """,
            (long,),
        )
        await conn.execute(
            """
            INSERT INTO alicia_sentences (message_id, sentence_sequence_number, text)
            SELECT m.id, n, 'A sentence of some length, number ' || n
              FROM alicia_messages m
             CROSS JOIN generate_series(1, 3) n
             WHERE m.conversation_id = %s
            """,
            (first,),
        )
        await conn.execute(
            "INSERT INTO alicia_memory (content) SELECT 'Memory ' || n FROM generate_series(1, 1000) n"
        )
        await conn.execute(
            "INSERT INTO alicia_tools (name) SELECT 'tool ' || n FROM generate_series(1, 10) n"
        )
        await conn.execute("ANALYZE")
        row = await (
            await conn.execute(
                """
                SELECT (SELECT id FROM alicia_messages WHERE conversation_id = %s ORDER BY id LIMIT 1),
                       (SELECT id FROM alicia_memory ORDER BY id LIMIT 1)
                """,
                (first,),
            )
        ).fetchone()
    assert row
    return Things(first, longest, row[0], row[1])


def bare(pool: Pool, all_reads: dict[str, tuple[str, Read]]) -> FastAPI:
    """Handlers with the SQL and nothing else: no callers, no checks, no shapes."""
    app = FastAPI()

    def add(name: str, read: Read) -> None:
        async def handler() -> Any:
            async with pool.connection() as conn:
                return msgspec.to_builtins(await read(conn), builtin_types=())

        app.add_api_route(f"/{name}", handler)

    for name, (_, read) in all_reads.items():
        add(name, read)
    return app


async def call(app: FastAPI, address: str) -> int:
    """One request; the answer's size."""
    path, _, query = address.partition("?")
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1:8080")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8080),
    }
    size, status = 0, 0

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        nonlocal size, status
        status = message.get("status", status)
        size += len(message.get("body", b""))

    await app(scope, receive, send)
    assert status == 200, (address, status)
    return size


async def timed(app: FastAPI, address: str) -> float:
    start = time.perf_counter()
    await call(app, address)
    return time.perf_counter() - start


async def side_by_side(ours: FastAPI, other: FastAPI, name: str, address: str, count: int) -> list[str]:
    """Requests in turns; what both took."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(count + 20):
        pair = await timed(ours, f"/api/v1{address}"), await timed(other, f"/{name}")
        if number >= 20:
            times[0].append(pair[0])
            times[1].append(pair[1])
    p95 = [statistics.quantiles(each, n=20)[-1] for each in times]
    median = [statistics.median(each) for each in times]
    return [
        name,
        f"{1 / median[0]:.0f}",
        f"{1 / median[1]:.0f}",
        f"{p95[0] * 1e3:.2f}",
        f"{p95[1] * 1e3:.2f}",
        f"{median[0] / median[1]:.2f}",
    ]


@asynccontextmanager
async def opened(url: str, home: Path) -> AsyncGenerator[FastAPI]:
    nowhere = LiveKitServer("ws://127.0.0.1:9", "key", "a secret that nobody needs to keep")
    app = create_app(Config(home=home, database_url=url, livekit=nowhere))
    async with app.router.lifespan_context(app):
        yield app


async def export_memory(pool: Pool) -> tuple[int, int]:
    """The size of an export, and the most memory that Python held for it."""
    tracemalloc.start()
    size = 0
    async for piece in archive.write(pool, OWNER):
        size += len(piece)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return size, peak


async def main(count: int, long: int) -> None:
    # Nobody is in any room, and nobody needs to hear of it.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    async with scratch_postgres() as server:
        url = await migrated(server, "api")
        with TemporaryDirectory() as home:
            async with make_pool(url) as pool, opened(url, Path(home)) as ours:
                things = await fill(pool, long)
                all_reads = reads(things)
                other = bare(pool, all_reads)
                rows = [
                    await side_by_side(ours, other, name, address, count)
                    for name, (address, _) in all_reads.items()
                ]
                short = statistics.median(
                    [
                        await timed(ours, f"/api/v1/conversations/{things.conversation}/messages")
                        for _ in range(count)
                    ]
                )
                deep = statistics.median(
                    [await timed(ours, f"/api/v1/conversations/{things.long}/messages") for _ in range(count)]
                )
                size, peak = await export_memory(pool)
    header = ("read", "per s", "bare per s", "p95 ms", "bare p95 ms", "ratio")
    show(f"{count} requests each, one after the other", header, rows)
    worst = max(float(row[-1]) for row in rows)
    judge(
        [
            ("dearest read beside a bare handler", f"{worst:.2f} ×", f"{AT_MOST} ×", worst <= AT_MOST),
            (f"page 1 of {long:,} messages beside 50", f"{deep / short:.2f} ×", "1.5 ×", deep / short <= 1.5),
            (
                f"memory for an export of {size:,} bytes",
                f"{peak / 2**20:.1f} MiB",
                "16 MiB",
                peak < 16 * 2**20,
            ),
        ]
    )


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=300)
    options.add_argument("--long", type=int, default=100_000)
    given = options.parse_args()
    asyncio.run(main(given.count, given.long))
