"""A language model's server with even sentences, so that two programs wait for as much of them.

A small model says now three words and now thirty before its first full stop, and now and then nothing that
can be said at all, whoever asks. This stands between it and them: how long it reads and when each of its
tokens comes is the model's own, but each token is the next word of a text with six words to the sentence.
"""

import asyncio
import itertools
import json
import threading
import time
from types import TracebackType
from typing import Any, Self

from aiohttp import ClientSession, ClientTimeout, web

TEXT = (
    "That is a good question indeed. There is more than one answer. Let me think about it now. "
    "Some would say that it depends. Others would say the very opposite. I think that both are right."
)
_HOP = {"host", "content-length", "transfer-encoding", "content-encoding", "connection"}


class EvenModel:
    """As a context manager it listens at `url`; `behind` is the model's own address, both with `/v1`."""

    def __init__(self, behind: str, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self._behind, self._port = behind.removesuffix("/v1"), port
        self._running, self._used_at = 0, 0.0
        self._loop = asyncio.new_event_loop()
        self._ready, self._stop = threading.Event(), asyncio.Event()
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._serve()))

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._loop.close()

    async def idle(self, seconds: float = 3.0, patience: float = 120.0) -> None:
        """Wait until nobody has asked for a while: what one program does then must not slow the next."""
        deadline = time.monotonic() + patience
        while self._running or time.monotonic() - self._used_at < seconds:
            assert time.monotonic() < deadline, "the model does not come to rest"
            await asyncio.sleep(0.1)

    async def _serve(self) -> None:
        async with ClientSession(timeout=ClientTimeout(None)) as self._client:
            app = web.Application(client_max_size=2**24)
            app.router.add_route("*", "/{path:.*}", self._forward)
            # Who leaves in mid-answer ends the model's work, too.
            runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", self._port).start()
            self._ready.set()
            await self._stop.wait()
            await runner.cleanup()

    async def _forward(self, request: web.Request) -> web.StreamResponse:
        self._running += 1
        try:
            return await self._pass_on(request)
        finally:
            self._running -= 1
            self._used_at = time.monotonic()

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP}
        url, body = self._behind + request.path_qs, await request.read()
        async with self._client.request(request.method, url, headers=headers, data=body) as answer:
            kind = answer.headers.get("Content-Type", "application/json")
            reply = web.StreamResponse(status=answer.status, headers={"Content-Type": kind})
            await reply.prepare(request)
            free = b'"response_format"' not in body and b'"json_schema"' not in body
            sentences = Sentences()
            async for line in answer.content:
                await reply.write(sentences.even(line) if free and line.startswith(b"data: {") else line)
            return reply


class Sentences:
    """Of one answer."""

    def __init__(self) -> None:
        self._words = itertools.cycle(f"{word} " for word in TEXT.split())

    def even(self, line: bytes) -> bytes:
        """An event of the stream with the next word for its token."""
        event: dict[str, Any] = json.loads(line.removeprefix(b"data: "))
        for choice in event.get("choices", ()):
            if choice.get("delta", {}).get("content"):
                choice["delta"]["content"] = next(self._words)
        return b"data: " + json.dumps(event).encode() + b"\n"
