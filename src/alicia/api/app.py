"""The HTTP server: is Alicia alive, is it ready, and the web client's files."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import uvicorn
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from psycopg_pool import PoolTimeout

from alicia.api import problems, tokens
from alicia.api.auth import Auth
from alicia.api.rooms import Rooms
from alicia.config import Config
from alicia.ledger.lease import served
from alicia.storage.pool import Pool, make_pool

BUILT_CLIENT = Path(__file__).parents[3] / "web" / "dist"
PLACEHOLDER = Path(__file__).parent / "static"
PATIENCE = 2.0


def create_app(config: Config) -> FastAPI:
    """Return the application; its database connections live as long as its lifespan."""
    pool = make_pool(config.need_database_url(), timeout=PATIENCE)
    livekit = config.need_livekit()

    async def agents_of(conversation_ids: list[str]) -> dict[str, bool]:
        async with pool.connection() as conn:
            return await served(conn, conversation_ids)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        rooms = Rooms(livekit.url, livekit.api_key, livekit.api_secret, config.agent_name)
        async with pool, aclosing(rooms), asyncio.TaskGroup() as tasks:
            app.state.rooms = rooms
            watching = tasks.create_task(rooms.watch(agents_of))
            yield
            watching.cancel()

    app = FastAPI(title="Alicia", lifespan=lifespan)
    problems.install(app)
    app.include_router(tokens.router(Auth(config.auth_secret), pool), prefix="/api/v1")

    async def healthz() -> dict[str, str]:
        """The process answers."""
        return {"status": "ok"}

    async def readyz() -> JSONResponse:
        """What this process needs answers too; 503 and the part's name otherwise."""
        parts = {"database": await _database_answers(pool), "livekit": await _listens(livekit.url)}
        ready = all(parts.values())
        content = {"status": "ready" if ready else "not ready", "parts": parts}
        return JSONResponse(content, status_code=200 if ready else 503)

    app.add_api_route("/healthz", healthz)
    app.add_api_route("/readyz", readyz)
    folder = BUILT_CLIENT if (BUILT_CLIENT / "index.html").exists() else PLACEHOLDER
    app.mount("/", StaticFiles(directory=folder, html=True), name="web")
    return app


async def serve(config: Config, ready: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM; call `ready` when requests are answered."""
    settings = uvicorn.Config(
        create_app(config),
        host=config.host,
        port=config.port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=2,
        lifespan="on",
    )

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if not self.should_exit:
                ready()

    await Server(settings).serve()


async def _database_answers(pool: Pool) -> bool:
    try:
        async with pool.connection(timeout=PATIENCE) as connection:
            await connection.execute("SELECT 1")
    except (psycopg.Error, PoolTimeout):
        return False
    return True


async def _listens(url: str) -> bool:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme in ("wss", "https") else 80)
    try:
        async with asyncio.timeout(PATIENCE):
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True
