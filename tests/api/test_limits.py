"""How much may be asked for, and what every answer carries."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from alicia import ids
from alicia.api.files import WebFiles
from alicia.api.limits import BODY, Bucket
from alicia.api.problems import Problem
from alicia.storage.pool import Connection, make_pool
from support.callers import Open, bearer


def test_a_bucket_fills_again_with_time() -> None:
    now = 0.0
    bucket = Bucket(rate=2, burst=4, clock=lambda: now)
    for _ in range(4):
        bucket.take("maria")
    with pytest.raises(Problem) as refused:
        bucket.take("maria")
    assert refused.value.status == 429
    assert refused.value.headers == {"Retry-After": "1"}
    bucket.take("jon")
    now = 0.5
    bucket.take("maria")
    with pytest.raises(Problem):
        bucket.take("maria")
    now = 1000.0
    for _ in range(4):
        bucket.take("maria")


async def test_writes_are_limited_by_user(api: httpx2.AsyncClient, user: str) -> None:
    nothing = f"/memories/{ids.new(ids.MemoryId)}"
    answer = await api.patch(nothing, json={})
    assert answer.status_code == 404
    while answer.status_code == 404:
        answer = await api.patch(nothing, json={})
    assert answer.status_code == 429
    assert answer.headers["content-type"] == "application/problem+json"
    assert int(answer.headers["retry-after"]) >= 1
    assert (await api.get("/memories")).status_code == 200
    other = await api.post("/memories", json={"content": "x"}, headers=bearer(f"not-{user}"))
    assert other.status_code == 201


async def test_tokens_are_limited_by_user(api: httpx2.AsyncClient, user: str) -> None:
    answers = [await api.post("/tokens", json={}) for _ in range(125)]
    # Nobody listens where LiveKit should be, so those that are let through are not answered with a token.
    assert {each.status_code for each in answers} == {503, 429}
    assert int(answers[-1].headers["retry-after"]) >= 1
    other = await api.post("/tokens", json={}, headers=bearer(f"not-{user}"))
    assert other.status_code == 503


async def test_huge_bodies_are_refused_whether_they_say_so_or_not(api: httpx2.AsyncClient) -> None:
    sized = await api.post(
        "/memories", content=b" " * (BODY + 1), headers={"Content-Type": "application/json"}
    )
    assert sized.status_code == 413
    assert sized.headers["content-type"] == "application/problem+json"

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(BODY // 2**16 + 2):
            yield b" " * 2**16

    streamed = await api.post("/memories", content=chunks(), headers={"Content-Type": "application/json"})
    assert streamed.status_code == 413


async def test_every_answer_tells_the_browser_what_it_may_do(anybody: httpx2.AsyncClient) -> None:
    for path in ("/", "/docs", "/sign-in", "/healthz", "/api/v1/me", "/nowhere", "/api/v1/nowhere"):
        headers = (await anybody.get(path)).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-inline" not in policy
        assert "ws://127.0.0.1:9" in policy
        assert headers["x-content-type-options"] == "nosniff"
    assert (await anybody.get("/api/v1/me")).headers["cache-control"] == "no-store"
    missing = await anybody.get("/api/v1/nowhere", headers={"Accept": "text/html"})
    assert missing.status_code == 404
    assert missing.headers["content-type"] == "application/problem+json"
    assert (await anybody.put("/api/v1/me")).status_code == 405


async def test_files_are_compressed_and_kept_by_browsers(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><p>" + "Hello. " * 200)
    script = "console.log('hello');" * 100
    (tmp_path / "assets" / "main-1a2b.js").write_text(script)
    app = FastAPI()
    app.mount("/", WebFiles(directory=tmp_path, html=True))
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        small = await client.get("/assets/main-1a2b.js")
        assert small.headers["content-encoding"] == "gzip"
        assert int(small.headers["content-length"]) < 200
        assert small.text == script
        assert "immutable" in small.headers["cache-control"]
        again = await client.get("/assets/main-1a2b.js", headers={"If-None-Match": small.headers["etag"]})
        assert again.status_code == 304
        plain = await client.get("/assets/main-1a2b.js", headers={"Accept-Encoding": "identity"})
        assert (plain.text, "content-encoding" in plain.headers) == (script, False)
        assert plain.headers["vary"] == "Accept-Encoding"
        deep = await client.get("/c/ac_123", headers={"Accept": "text/html,*/*"})
        assert deep.status_code == 200
        assert deep.text.startswith("<!doctype html>")
        assert deep.headers["cache-control"] == "no-cache"
        assert (await client.get("/c/ac_123", headers={"Accept": "application/json"})).status_code == 404
        assert (await client.get("/missing.js", headers={"Accept": "text/html"})).status_code == 404


async def test_a_database_that_is_away_is_said_to_be(serving: Open, user: str) -> None:
    async with serving(database_url="postgresql://nobody@127.0.0.1:9/none") as client:
        answer = await client.get("/api/v1/conversations", headers=bearer(user))
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "2"
        assert answer.headers["content-type"] == "application/problem+json"
        ready = await client.get("/readyz")
        assert ready.status_code == 503
        assert ready.json()["parts"] == {"database": False, "livekit": False}
        tokens = await client.post("/api/v1/tokens", json={}, headers=bearer(user))
        assert tokens.status_code == 503


async def test_a_database_that_restarted_fails_few_calls(
    serving: Open, fresh_database_url: str, user: str
) -> None:
    async with (
        make_pool(fresh_database_url, max_size=1) as pool,
        pool.connection() as conn,
        serving(database_url=fresh_database_url) as client,
    ):

        async def ask() -> int:
            return (await client.get("/api/v1/conversations", headers=bearer(user))).status_code

        await conn.execute("BEGIN")
        await conn.execute("LOCK TABLE alicia_conversations IN ACCESS EXCLUSIVE MODE")
        asked = [asyncio.create_task(ask()) for _ in range(6)]
        while await _waiting(conn) < len(asked):
            pass
        await conn.execute("ROLLBACK")
        assert await asyncio.gather(*asked) == [200] * 6
        await conn.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        assert await ask() == 503
        assert [await ask() for _ in range(6)] == [200] * 6


async def _waiting(conn: Connection) -> int:
    """How many calls hold a connection each, waiting for the table."""
    sql = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'alicia_conversations'::regclass"
    row = await (await conn.execute(sql)).fetchone()
    assert row is not None
    return row[0]
