"""The API in this process, on the run's PostgreSQL, with tokens for any user."""

import asyncio
import secrets
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn

from alicia.api.app import create_app
from alicia.config import Config, LiveKitServer
from alicia.storage.pool import Pool
from support import ground
from support.callers import SECRET, Letters, Open, bearer
from support.servers import PostgresServer
from support.talk import Talk


@pytest.fixture(scope="session")
def database_url(postgres: PostgresServer) -> str:
    """One without an agent, which would go on with what these tests begin."""
    return postgres.create(f"api_{secrets.token_hex(6)}", template=ground.ask("template")["name"])


@pytest.fixture
def config(database_url: str, tmp_path: Path) -> Config:
    # Nobody listens there: these tests are about everything that is not live.
    nowhere = LiveKitServer("ws://127.0.0.1:9", "key", secrets.token_hex(32))
    return Config(home=tmp_path, database_url=database_url, livekit=nowhere, auth_secret=SECRET)


@pytest.fixture
def serving(config: Config) -> Open:
    """Open the API with some settings changed."""

    @asynccontextmanager
    async def opened(embedder: Any = None, **changes: Any) -> AsyncGenerator[httpx2.AsyncClient]:
        app = create_app(replace(config, **changes), embedder)
        async with app.router.lifespan_context(app):
            transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
            async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as client:
                yield client

    return opened


@pytest.fixture
async def anybody(serving: Open) -> AsyncIterator[httpx2.AsyncClient]:
    """A client without a token."""
    async with serving() as client:
        yield client


@pytest.fixture
async def api(serving: Open, user: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of this test's user, at the calls' prefix."""
    async with serving() as client:
        client.base_url = httpx2.URL("http://127.0.0.1:8080/api/v1")
        client.headers.update(bearer(user))
        yield client


@pytest.fixture
async def talk(pool: Pool, user: str) -> Talk:
    return await Talk.open(pool, user)


@pytest.fixture
async def server(config: Config) -> AsyncIterator[str]:
    """The API on a port of its own; its address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        settings = uvicorn.Config(create_app(config, Letters()), log_config=None, lifespan="on")
        running = uvicorn.Server(settings)
        running.capture_signals = _no_signals  # pyright: ignore[reportAttributeAccessIssue]
        serving = asyncio.create_task(running.serve([listening]))
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        running.should_exit = True
        await serving


class _no_signals:  # noqa: N801 - stands in for a method
    """The test run's signals are pytest's."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...
