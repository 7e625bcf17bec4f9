"""How many requests there were, of which call, how they ended, and how long they took."""

from time import perf_counter
from typing import Final

from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from alicia.telemetry import metrics

METHODS: Final = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})


class Measured:
    """Times every request until its answer is sent."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            route = scope.get("route")
            # Neither addresses that are no calls nor made-up methods are counted by name: they have no end.
            call = route.path if isinstance(route, APIRoute) else "other"
            method = scope["method"] if scope["method"] in METHODS else "other"
            metrics.requests.labels(method, call, status).observe(perf_counter() - began)
