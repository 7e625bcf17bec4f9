"""The HTTP server: the calls, is Alicia alive, is it ready, and the web client's files."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import uvicorn
from fastapi import FastAPI, Response
from fastapi.responses import FileResponse, JSONResponse
from psycopg_pool import PoolTimeout

from alicia.api import description, headers, problems, reference
from alicia.api.auth import Auth
from alicia.api.calls import PREFIX
from alicia.api.files import WebFiles
from alicia.api.limits import BodyLimit
from alicia.api.measured import Measured
from alicia.api.rooms import Rooms
from alicia.api.scope import NoEmbedder, Services
from alicia.config import Config
from alicia.ledger.lease import served
from alicia.ledger.ledger import Ledger
from alicia.memory.embeddings import Embedder
from alicia.memory.recall import Searcher
from alicia.storage.pool import Pool, make_pool
from alicia.telemetry import scrape

BUILT_CLIENT = Path(__file__).parents[3] / "web" / "dist"
OWN_FILES = Path(__file__).parent / "static"
PATIENCE = 2.0


def create_app(config: Config, embedder: Embedder | None = None) -> FastAPI:
    """Return the application; its connections live as long as its lifespan.

    Without an embedder memories are stored without vectors, and searched by their words.
    """
    pool = make_pool(config.need_database_url(), pooler=config.database_pooler, timeout=PATIENCE)
    livekit = config.need_livekit()
    embedder = embedder or NoEmbedder()

    async def agents_of(conversation_ids: list[str]) -> dict[str, bool]:
        async with pool.connection() as conn:
            return await served(conn, conversation_ids)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        rooms = Rooms(livekit.url, livekit.api_key, livekit.api_secret, config.agent_name)
        auth = Auth.of(config)
        async with pool, aclosing(rooms), aclosing(auth), asyncio.TaskGroup() as tasks:
            app.state.services = Services(
                pool=pool,
                ledger=Ledger(pool),
                auth=auth,
                rooms=rooms,
                embedder=embedder,
                searcher=Searcher(pool, embedder),
                text_to_speech=config.tts,
            )
            watching = tasks.create_task(rooms.watch(agents_of))
            with scrape.pool_use(pool.get_stats):
                yield
            watching.cancel()

    app = description.make(lifespan)
    problems.install(app)
    reference.install(app)
    app.add_middleware(BodyLimit, archive_path=f"{PREFIX}/import")
    app.add_middleware(headers.Headers, headers=headers.security_headers(livekit.url))
    app.add_middleware(Measured)
    _add_health(app, pool, livekit.url)
    _add_files(app)
    return app


def _add_health(app: FastAPI, pool: Pool, livekit_url: str) -> None:
    async def healthz() -> dict[str, str]:
        """The process answers."""
        return {"status": "ok"}

    async def readyz() -> JSONResponse:
        """What this process needs answers too; 503 and the part's name otherwise."""
        parts = {"database": await _database_answers(pool), "livekit": await _listens(livekit_url)}
        ready = all(parts.values())
        content = {"status": "ready" if ready else "not ready", "parts": parts}
        return JSONResponse(content, status_code=200 if ready else 503)

    async def metrics() -> Response:
        """The numbers of this process, for Prometheus."""
        return Response(scrape.text(), media_type=scrape.MEDIA_TYPE)

    app.add_api_route("/metrics", metrics, include_in_schema=False)
    app.add_api_route("/healthz", healthz, include_in_schema=False)
    app.add_api_route("/readyz", readyz, include_in_schema=False)


def _add_files(app: FastAPI) -> None:
    async def sign_in() -> Response:
        return FileResponse(OWN_FILES / "pages" / "sign-in.html", headers={"Cache-Control": "no-cache"})

    app.add_api_route("/sign-in", sign_in, include_in_schema=False)
    app.mount("/pages", WebFiles(directory=OWN_FILES / "pages"), name="pages")
    built = (BUILT_CLIENT / "index.html").exists()
    app.mount("/", WebFiles(directory=BUILT_CLIENT if built else OWN_FILES, html=True), name="web")


async def serve(config: Config, ready: Callable[[], None], embedder: Embedder | None = None) -> None:
    """Serve until SIGINT or SIGTERM; call `ready` when requests are answered."""
    settings = uvicorn.Config(
        create_app(config, embedder),
        host=config.host,
        port=config.port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=2,
        lifespan="on",
        server_header=False,
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
