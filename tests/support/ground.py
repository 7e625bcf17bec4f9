"""One PostgreSQL and one LiveKit for a whole test run, started when the first test asks.

The process that began the run owns them: pytest itself, or under xdist its controller, which outlives every
worker. It listens on a Unix socket named in the environment; workers connect, say what they need, and get
its address as a line of JSON. Should the owner be killed, the kernel ends the servers with it.
"""

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import asdict
from pathlib import Path
from typing import Any

from support.servers import LiveKitServer, PostgresServer

VARIABLE = "ALICIA_TEST_GROUND"
TEMPLATE = "alicia_template"

# The run's databases are thrown away, so nothing needs to survive a power cut. A test about durability starts
# a PostgreSQL of its own, without these.
CARELESS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "200"}


class Ground:
    """The owner's side: a thread with an event loop that starts what is asked for, once."""

    def __init__(self, *, durable: bool = False) -> None:
        _sweep()
        self.home = Path(tempfile.mkdtemp(prefix=f"alicia-tests-{os.getpid()}-"))
        self._durable = durable
        self._address = self.home / "ground"
        self._up: Future[None] = Future()
        self._stop: Callable[[], object] = lambda: None
        self._servers = contextlib.AsyncExitStack()
        self._answers: dict[str, asyncio.Task[dict[str, Any]]] = {}
        # The servers are children of this thread and end with it, so it must live as long as the run.
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="ground", daemon=True)

    def open(self) -> None:
        self._thread.start()
        self._up.result(timeout=10)
        os.environ[VARIABLE] = str(self._address)

    def close(self) -> None:
        """Stop what was started and remove its data."""
        self._stop()
        self._thread.join(timeout=30)
        os.environ.pop(VARIABLE, None)
        shutil.rmtree(self.home, ignore_errors=True)

    async def _run(self) -> None:
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._stop = lambda: loop.call_soon_threadsafe(stopped.set)
        async with self._servers:
            server = await asyncio.start_unix_server(self._answer, self._address)
            self._up.set_result(None)
            await stopped.wait()
            server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            reply = await self._once((await reader.readline()).decode().strip())
        except Exception as error:  # the asking test must see it, whatever it is
            reply = {"error": f"{type(error).__name__}: {error}"}
        writer.write(json.dumps(reply).encode() + b"\n")
        await writer.drain()
        writer.close()

    async def _once(self, what: str) -> dict[str, Any]:
        if what not in self._answers:
            parts = {"postgres": self._postgres, "template": self._template, "livekit": self._livekit}
            self._answers[what] = asyncio.create_task(parts[what]())
        return await self._answers[what]

    async def _postgres(self) -> dict[str, Any]:
        from alicia.local.postgres import Postgres

        settings = {} if self._durable else CARELESS
        server = Postgres(self.home / "postgres", password=secrets.token_urlsafe(12), settings=settings)
        await server.initialise()
        await server.start()
        self._servers.push_async_callback(server.stop)
        await server.ready()
        return asdict(PostgresServer(server.port, server.password))

    async def _template(self) -> dict[str, Any]:
        from alicia.storage.migrate import migrate

        server = PostgresServer(**await self._once("postgres"))
        await asyncio.to_thread(server.create, TEMPLATE)
        await migrate(server.url(TEMPLATE))
        return {"name": TEMPLATE}

    async def _livekit(self) -> dict[str, Any]:
        from alicia.local.livekit import LiveKit

        server = LiveKit(self.home / "livekit", api_key="test", api_secret=secrets.token_urlsafe(32))
        await server.start()
        self._servers.push_async_callback(server.stop)
        await server.ready()
        return asdict(LiveKitServer(server.url, server.api_key, server.api_secret))


def ask(what: str) -> dict[str, Any]:
    """A worker's side: get the address of a server, started now if need be."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(100)
        connection.connect(os.environ[VARIABLE])
        connection.sendall(f"{what}\n".encode())
        with connection.makefile() as lines:
            reply: dict[str, Any] = json.loads(lines.readline())
    if "error" in reply:
        raise RuntimeError(f"the test run's {what} is not to be had: {reply['error']}")
    return reply


def postgres() -> PostgresServer:
    return PostgresServer(**ask("postgres"))


def livekit() -> LiveKitServer:
    return LiveKitServer(**ask("livekit"))


def _sweep() -> None:
    """Remove the folders of runs that were killed."""
    for folder in Path(tempfile.gettempdir()).glob("alicia-tests-*"):
        pid = folder.name.split("-")[2]
        if pid.isdigit() and not Path("/proc", pid).exists():
            shutil.rmtree(folder, ignore_errors=True)
