"""The commonest reads of the HTTP interface beside a bare FastAPI handler: the same SQL, the same JSON.

Both are called in this process, in turns, without a client or a network between, so that the ratio is of the
two handlers alone. Then, over HTTP to a process of its own: page 1 of a short and of a long history, and the
memory that an export takes. Tables go to bench/results/api.md.
"""

import argparse
import asyncio
import logging
import statistics
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import structlog
from fastapi import FastAPI

from alicia.api.app import create_app
from alicia.config import Config, LiveKitServer
from alicia.storage.pool import make_pool
from http_reads.bare import bare
from http_reads.rows import Things, add_conversation, fill
from http_reads.server import Server, api_process
from machine import keep
from scratch import judge, limits, migrated, scratch_postgres, show

AT_MOST = 1.5
WARM = 30
RESULTS = Path(__file__).parent / "results" / "api.md"
HEADER = ("read", "per s", "bare per s", "p95 ms", "bare p95 ms", "ratio")


def reads(things: Things) -> dict[str, str]:
    """The ten commonest reads."""
    talk = f"/conversations/{things.conversation}"
    return {
        "conversations": "/conversations",
        "archived": "/conversations?status=archived",
        "search": "/conversations?query=mountain&limit=20",
        "conversation": talk,
        "history": f"{talk}/messages",
        "message": f"{talk}/messages/{things.message}",
        "trace": f"/messages/{things.message}/trace",
        "memories": "/memories",
        "memory": f"/memories/{things.memory}",
        "tools": "/tools",
    }


async def call(app: FastAPI, address: str) -> bytes:
    """One request; the answer's body."""
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
        "headers": [(b"host", b"127.0.0.1:8080"), (b"accept", b"*/*"), (b"user-agent", b"bench")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8080),
    }
    status, body = 0, b""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status, body
        status = message.get("status", status)
        body += message.get("body", b"")

    await app(scope, receive, send)
    assert status == 200, (address, status)
    return body


async def timed(app: FastAPI, address: str) -> float:
    start = time.perf_counter()
    await call(app, address)
    return time.perf_counter() - start


async def side_by_side(ours: FastAPI, other: FastAPI, name: str, address: str, count: int) -> list[str]:
    """Requests in turns; what both took."""
    address = f"/api/v1{address}"
    assert await call(ours, address) == await call(other, address), f"{name} is not the same"
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(count + WARM):
        # Whoever comes second finds the caches warm, so they take turns in that too.
        order = (ours, other) if number % 2 else (other, ours)
        took = {app: await timed(app, address) for app in order}
        if number >= WARM:
            times[0].append(took[ours])
            times[1].append(took[other])
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


async def compare(url: str, things: Things, count: int) -> list[list[str]]:
    with TemporaryDirectory() as home:
        async with make_pool(url) as pool, opened(url, Path(home)) as ours:
            other = bare(pool)
            return [
                await side_by_side(ours, other, name, address, count)
                for name, address in reads(things).items()
            ]


async def first_pages(server: Server, talks: list[str], count: int) -> list[float]:
    """Seconds for page 1 of each of these conversations over HTTP, measured in turns."""
    times: list[list[float]] = [[] for _ in talks]
    for number in range(count + WARM):
        for place, conversation_id in enumerate(talks):
            start = time.perf_counter()
            answer = await server.client.get(f"/api/v1/conversations/{conversation_id}/messages")
            took = time.perf_counter() - start
            assert len(answer.raise_for_status().json()["items"]) == 50
            if number >= WARM:
                times[place].append(took)
    return [statistics.median(each) for each in times]


async def export(server: Server) -> tuple[int, int]:
    """The size of an export in bytes, and the most memory that the server had while it sent it."""
    server.forget_peak()
    size = 0
    async with server.client.stream("GET", "/api/v1/export") as answer:
        async for piece in answer.raise_for_status().aiter_raw():
            size += len(piece)
    return size, server.memory("VmHWM")


def report(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Print a table, and give it for the file."""
    show(title, header, rows)
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join([f"{title}:", "", *(f"| {' | '.join(line)} |" for line in lines)]) + "\n"


async def main(count: int, short: int, long: int, exported: int) -> None:
    # Nobody is in any room, and nobody needs to hear of it.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    async with scratch_postgres() as postgres:
        url = await migrated(postgres, "api")
        async with make_pool(url) as pool:
            rows = await compare(url, await fill(pool), count)
            async with api_process(url) as server:
                await export(server)
                sizes = [await export(server)]
                await add_conversation(pool, exported)
                sizes.append(await export(server))
                talks = [await add_conversation(pool, length) for length in (short, long)]
                pages = await first_pages(server, talks, count)
    memory = [
        [f"{messages:,}", f"{size / 2**20:.1f} MiB", f"{peak / 2**20:.0f} MiB"]
        for messages, (size, peak) in zip((10_000, 10_000 + exported), sizes, strict=True)
    ]
    tables = [
        report(f"{count} requests each, one after the other, in turns", HEADER, rows),
        report("Export", ("messages", "archive", "most memory of the server"), memory),
        report(
            "Page 1 over HTTP",
            ("messages", "p50"),
            [[f"{each:,}", f"{took * 1e3:.2f} ms"] for each, took in zip((short, long), pages, strict=True)],
        ),
    ]
    worst = max(float(row[-1]) for row in rows)
    deep = pages[1] / pages[0]
    grown = (sizes[1][1] - sizes[0][1]) / 2**20
    targets = [
        ("dearest read beside a bare handler", f"{worst:.2f} ×", f"≤ {AT_MOST} ×", worst <= AT_MOST),
        (f"page 1 of {long:,} beside {short:,}", f"{deep:.2f} ×", f"≤ {AT_MOST} ×", deep <= AT_MOST),
        (f"more memory for an export of {exported:,} more", f"{grown:.1f} MiB", "≤ 16 MiB", grown <= 16),
    ]
    keep(RESULTS, "\n".join(["# The HTTP interface\n\n`bench/api.py`\n", *tables, limits(targets)]))
    judge(targets)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=300)
    options.add_argument("--short", type=int, default=1_000)
    options.add_argument("--long", type=int, default=1_000_000)
    options.add_argument("--exported", type=int, default=100_000)
    given = options.parse_args()
    asyncio.run(main(given.count, given.short, given.long, given.exported))
