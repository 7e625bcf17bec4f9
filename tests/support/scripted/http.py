"""Just enough HTTP/1.1 to answer, stream, stall and drop connections exactly as a script says."""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, Literal

import h11

from support.scripted.script import within

Ending = Literal["sent", "left", "cut"]


class Request:
    """A request as it came, for assertions, and how its answer ended."""

    def __init__(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
        self._ending: Future[Ending] = Future()

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.body) if self.body else {}

    @property
    def route(self) -> str:
        """What is asked for: the last part of the path, but `chat`, or `json` for a chat with a schema."""
        if self.path.endswith("/chat/completions"):
            return "chat" if self.schema is None else "json"
        return self.path.rpartition("/")[2]

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema that the answer must fit."""
        wanted: dict[str, Any] = self.json.get("response_format") or {}
        return wanted["json_schema"]["schema"] if wanted.get("type") == "json_schema" else None

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.json.get("messages", [])

    @property
    def user_text(self) -> str:
        """The newest user message, as text."""
        for message in reversed(self.messages):
            if message.get("role") == "user":
                content = message.get("content")
                return content if isinstance(content, str) else json.dumps(content)
        return ""

    async def ended(self, seconds: float = 20) -> Ending:
        """Wait for the end: all of it was `sent`, the client `left` first, or the script `cut` it."""
        return await within(self._ending, seconds)

    def end(self, how: Ending) -> None:
        if not self._ending.done():
            self._ending.set_result(how)


class CutError(Exception):
    """The script cut the connection."""


class Reply:
    """The server's side of one exchange."""

    def __init__(self, conn: h11.Connection, writer: asyncio.StreamWriter) -> None:
        self._conn = conn
        self._writer = writer
        self.started = False

    async def start(self, status: int, headers: dict[str, str]) -> None:
        self.started = True
        await self._send(h11.Response(status_code=status, headers=list(headers.items())))

    async def data(self, data: bytes) -> None:
        await self._send(h11.Data(data=data))

    async def end(self) -> None:
        await self._send(h11.EndOfMessage())

    async def whole(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        await self.start(status, {**headers, "content-length": str(len(body))})
        await self.data(body)
        await self.end()

    async def json(self, value: object, status: int = 200, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(value).encode()
        await self.whole(status, body, {"content-type": "application/json", **(headers or {})})

    def cut(self) -> None:
        raise CutError

    async def _send(self, event: h11.Response | h11.Data | h11.EndOfMessage) -> None:
        if data := self._conn.send(event):
            self._writer.write(data)
            await self._writer.drain()


Handler = Callable[[Request, Reply], Awaitable[None]]


async def serve_connection(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    arrived: Callable[[Request], None],
    handler: Handler,
) -> None:
    """Answer the requests of one connection until either side ends it."""
    conn = h11.Connection(h11.SERVER)
    try:
        while request := await _read(conn, reader):
            arrived(request)
            ending = await _answer(conn, reader, writer, request, handler)
            request.end(ending)
            if ending != "sent":
                writer.transport.abort()
                return
            if conn.our_state is not h11.DONE or conn.their_state is not h11.DONE:
                return
            conn.start_next_cycle()
    except (ConnectionError, h11.RemoteProtocolError):
        return
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def _read(conn: h11.Connection, reader: asyncio.StreamReader) -> Request | None:
    head: h11.Request | None = None
    body = bytearray()
    while True:
        event = conn.next_event()
        if event is h11.NEED_DATA:
            conn.receive_data(await reader.read(65536))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            headers = {name.decode().lower(): value.decode() for name, value in head.headers}
            return Request(head.method.decode(), head.target.decode(), headers, bytes(body))
        else:
            return None


async def _answer(
    conn: h11.Connection,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    request: Request,
    handler: Handler,
) -> Ending:
    async def until_left() -> None:
        while data := await reader.read(65536):
            conn.receive_data(data)

    reply = Reply(conn, writer)

    async def handle() -> None:
        await handler(request, reply)

    answer = asyncio.create_task(handle())
    leaving = asyncio.create_task(until_left())
    try:
        await asyncio.wait({answer, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            return "left"
        await answer
    except CutError:
        return "cut"
    except ConnectionError:
        return "left"
    except Exception as error:  # a mistake in a script or a request: the client's test must see it
        if not reply.started:
            await reply.json({"error": {"message": f"scripted server: {error!r}"}}, 500)
        return "cut"
    else:
        return "sent"
    finally:
        for task in (answer, leaving):
            task.cancel()
        await asyncio.gather(answer, leaving, return_exceptions=True)
