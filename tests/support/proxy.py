"""A wire to PostgreSQL that a test can cut at chosen moments."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from enum import Enum, auto
from urllib.parse import urlsplit, urlunsplit


class Cut(Enum):
    """What happens to the next message that contains the marker."""

    BEFORE = auto()
    """It never reaches the server."""
    AFTER = auto()
    """The server does it, and its answer is lost."""


Plan = tuple[bytes, Cut, bool]


class Wire:
    """Forwards connections to a server; `cut` breaks the one that next carries `marker`."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._plans: list[Plan] = []
        self.down = False

    def cut(self, marker: bytes, how: Cut, *, stay_down: bool = False) -> None:
        self._plans.append((marker, how, stay_down))

    @property
    def pending(self) -> int:
        """How many cuts have not happened yet."""
        return len(self._plans)

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        # A task that was cancelled before its first step has closed nothing.
        for writer in self._writers:
            await _close(writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.down:
            await _close(writer)
            return
        far_reader, far_writer = await asyncio.open_connection(self._host, self._port)
        self._writers.add(far_writer)
        back = asyncio.create_task(self._copy(far_reader, writer))
        try:
            while data := await reader.read(1 << 20):
                plan = next((plan for plan in self._plans if plan[0] in data), None)
                if self.down or (plan and plan[1] is Cut.BEFORE):
                    self._done(plan)
                    break
                if plan:
                    self._done(plan)
                    # The answer goes nowhere, but it must have come: then the server has committed.
                    back.cancel()
                    await asyncio.gather(back, return_exceptions=True)
                    far_writer.write(data)
                    await far_writer.drain()
                    while b"Z\x00\x00\x00\x05I" not in await far_reader.read(1 << 20):
                        pass
                    break
                far_writer.write(data)
                await far_writer.drain()
        except ConnectionError:
            pass
        finally:
            back.cancel()
            await asyncio.gather(back, return_exceptions=True)
            await _close(far_writer)
            await _close(writer)

    def _done(self, plan: Plan | None) -> None:
        if plan:
            self._plans.remove(plan)
            self.down = plan[2]

    @staticmethod
    async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(1 << 20):
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()


async def _close(writer: asyncio.StreamWriter) -> None:
    """Close for good: a transport that outlives its loop is a warning in some later test."""
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


@asynccontextmanager
async def wire_to(url: str) -> AsyncGenerator[tuple[Wire, str]]:
    """A wire to this database, and the address by which it is reached over the wire."""
    parts = urlsplit(url)
    assert parts.hostname
    assert parts.port
    wire = Wire(parts.hostname, parts.port)
    server = await asyncio.start_server(wire.connected, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    credentials = parts.netloc.rpartition("@")[0]
    address = urlunsplit(parts._replace(netloc=f"{credentials}@127.0.0.1:{port}"))
    try:
        yield wire, f"{address}?sslmode=disable&gssencmode=disable"
    finally:
        server.close()
        await wire.close()
        await server.wait_closed()
