"""One address before several servers: each connection goes to one that answers."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any


class Balancer:
    """Forwards bytes; a server that is gone gets no new connections, and its old ones break."""

    def __init__(self, backends: Sequence[int]) -> None:
        self.port = 0
        self._backends = backends
        self._turn = count()
        self._tasks: set[asyncio.Task[None]] = set()

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far = await self._dial()
            if far is not None:
                far_reader, far_writer = far
                try:
                    await _first_of(_copy(reader, far_writer), _copy(far_reader, writer))
                finally:
                    far_writer.close()
        finally:
            writer.close()

    async def _dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        start = next(self._turn)
        for place in range(len(self._backends)):
            port = self._backends[(start + place) % len(self._backends)]
            with suppress(OSError):
                return await asyncio.open_connection("127.0.0.1", port)
        return None


async def _first_of(*ways: Coroutine[Any, Any, None]) -> None:
    tasks = [asyncio.create_task(way) for way in ways]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def balancer(*backends: int) -> AsyncGenerator[Balancer]:
    """Listens while the block runs."""
    opened = Balancer(backends)
    server = await asyncio.start_server(opened.connected, "127.0.0.1", 0)
    opened.port = server.sockets[0].getsockname()[1]
    try:
        yield opened
    finally:
        server.close()
        await opened.close()
