"""How much a caller may ask for: so many writes a second, and bodies of so many bytes."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from alicia.api.problems import Problem, answer
from alicia.protocol.bucket import Buckets

BODY: Final = 10 * 2**20
"""The largest body in bytes; a thousand memories fit."""
ARCHIVE: Final = 8 * 2**30
"""The largest archive that can be imported."""


class Bucket:
    """A token bucket for each user: `burst` calls at once, `rate` a second in the long run."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._buckets = Buckets(rate, burst)
        self._clock = clock

    def take(self, user: str, count: int = 1) -> None:
        """Count a call; Problem 429 says when the next one may come."""
        if seconds := self._buckets.take(user, self._clock(), count):
            wait = max(1, round(seconds + 0.5))
            raise Problem(
                429, f"That was too much at once; try again in {wait} s.", headers={"Retry-After": str(wait)}
            )


class Limits:
    """What is limited, each by user."""

    def __init__(self) -> None:
        self.tokens = Bucket(rate=2, burst=120)
        self.writes = Bucket(rate=20, burst=300)
        self.archives = Bucket(rate=1 / 10, burst=10)


class TooLarge(Exception):
    """The body went on beyond its limit."""


class BodyLimit:
    """Refuses bodies that are too large, whether they say so at the start or not."""

    def __init__(self, app: ASGIApp, archive_path: str) -> None:
        self._app = app
        self._archive_path = archive_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = ARCHIVE if scope["path"] == self._archive_path else BODY
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if not declared.isdigit() or int(declared) > limit:
            await _refusal(limit)(scope, receive, send)
            return
        received, begun, over = 0, False, False

        async def counted() -> Message:
            nonlocal received, over
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                over = True
                raise TooLarge
            return message

        async def noted(message: Message) -> None:
            # Whoever reads the body may take the exception for a mistake in it, and answer so.
            nonlocal begun
            if begun or not over:
                begun = True
                await send(message)

        with suppress(TooLarge):
            await self._app(scope, counted, noted)
        if over and not begun:
            await _refusal(limit)(scope, receive, send)


def _refusal(limit: int) -> JSONResponse:
    return answer(413, f"A body has at most {limit} bytes here.")
