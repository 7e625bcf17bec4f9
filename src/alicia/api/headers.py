"""Headers that every answer carries, so that a browser does nothing with it that was not meant."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send


def security_headers(livekit_url: str) -> dict[str, str]:
    """Scripts and styles only from files of ours; connections only to us and to LiveKit."""
    netloc = urlsplit(livekit_url).netloc
    secure = urlsplit(livekit_url).scheme in ("wss", "https")
    livekit = f"wss://{netloc} https://{netloc}" if secure else f"ws://{netloc} http://{netloc}"
    policy = {
        "default-src": "'self'",
        "connect-src": f"'self' {livekit}",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "media-src": "'self' blob:",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(self)",
    }


class Headers:
    """Adds the headers that an answer has not; answers of the API are also kept out of caches."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self._app = app
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        self._private = [*self._headers, (b"cache-control", b"no-store")]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        private = scope["path"].startswith("/api/")

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                own: list[tuple[bytes, bytes]] = list(message["headers"])
                has = {name for name, _ in own}
                own += [pair for pair in (self._private if private else self._headers) if pair[0] not in has]
                message = {**message, "headers": own}
            await send(message)

        await self._app(scope, receive, sent)
