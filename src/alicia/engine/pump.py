"""Reads a model's stream in a task of its own, so that a stop never cuts a write in half."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Generic, TypeVar, cast

T = TypeVar("T")
_END = object()


class Pump(Generic[T]):
    """Iterate to get, each time, all that came since the last time.

    An error of the stream is raised after what came before it. After `stop` nothing more comes, `stopped` is
    true, and the stream is closed at once.
    """

    def __init__(self) -> None:
        self.stopped = False
        self.watch: Callable[[T], None] | None = None
        """Is shown each item as it comes, before anybody iterates."""
        self._queue: asyncio.Queue[object] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    def start(self, stream: AsyncGenerator[T, None]) -> None:
        if not self.stopped:
            self._task = asyncio.create_task(self._read(stream))

    def stop(self) -> None:
        self.stopped = True
        self._queue.put_nowait(_END)
        if self._task is not None:
            self._task.cancel()

    async def aclose(self) -> None:
        """End the reading task; the owner calls this whatever happened."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _read(self, stream: AsyncGenerator[T, None]) -> None:
        try:
            # Closing a model's stream closes the connection to its server, which ends its work.
            async with aclosing(stream) as items:
                async for item in items:
                    if self.watch is not None:
                        self.watch(item)
                    self._queue.put_nowait(item)
            self._queue.put_nowait(_END)
        except Exception as error:  # handed to whoever iterates
            self._queue.put_nowait(_Failure(error))

    async def __aiter__(self) -> AsyncIterator[list[T]]:
        while True:
            items = [await self._queue.get()]
            while not self._queue.empty():
                items.append(self._queue.get_nowait())
            if self.stopped:
                return
            last = items[-1]
            batch = [cast("T", item) for item in items if item is not _END and not isinstance(item, _Failure)]
            if batch:
                yield batch
            if isinstance(last, _Failure):
                raise last.error
            if last is _END:
                return


class _Failure:
    def __init__(self, error: Exception) -> None:
        self.error = error
