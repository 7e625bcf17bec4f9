"""The scripted server: its life, its routes, and the words with which a test steers it."""

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Self

from support.scripted import chat, senses
from support.scripted.http import Reply, Request, serve_connection
from support.scripted.script import Cut, Fail, Gate, Hang, Held, Pause, Rule, Script, Step, Text

When = str | Callable[[str], bool] | None


class ScriptedServer:
    """Serves `/v1/chat/completions`, `/embeddings`, `/audio/…`, `/models` and `/props` on a free port.

    Answers are used once, in the order in which they were written, by the first request that they match
    (`when` is a part of the newest user message, or a function of it); `always=True` keeps one. Without a
    matching answer the chat echoes. A chat that wants JSON by a schema is a route of its own, "json", so that
    no such request takes an answer that was written for a user: without one that fits its schema it gets
    the plainest values that the schema allows.
    """

    def __init__(self, *, model: str = "scripted", context_window: int = 8192, dimensions: int = 384) -> None:
        self.model = model
        self.context_window = context_window
        self.dimensions = dimensions
        self.api_key: str | None = None
        """When set, requests with another key get 401."""
        self.voices: Any = None
        """What it tells of its voices; None: nothing."""
        self.heard = "This is a scripted transcription."
        """What every recording says for which no answer was written."""
        self.requests: list[Request] = []
        self.connections = 0
        """How many connections clients have opened."""
        self._rules: dict[str, list[Rule]] = {}
        self._make: Callable[[Request], object] = _nothing
        self._arrival = threading.Condition()
        self._ready: Future[int] = Future()
        self._stop: Callable[[], object] = lambda: None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="scripted", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.port = self._ready.result(timeout=10)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._thread.join(timeout=10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def chats(self) -> list[Request]:
        """The chat requests so far that wanted text."""
        return [request for request in self.requests if request.route == "chat"]

    @property
    def asked(self) -> list[Request]:
        """The chat requests so far that wanted JSON."""
        return [request for request in self.requests if request.route == "json"]

    def newest(self, said: str) -> Request:
        """The newest chat whose user's message ends so, whatever else was asked since."""
        return [request for request in self.chats if request.user_text.endswith(said)][-1]

    def reset(self) -> None:
        """Forget what was written and what came."""
        self.requests.clear()
        self._rules.clear()
        self._make = _nothing

    def say(self, text: str, *, every: float = 0.0, when: When = None, always: bool = False) -> None:
        """Answer with this text, a word every so many seconds."""
        self.chat(Script(Text(text, every)), when=when, always=always)

    def answer_json(self, value: object, *, when: When = None, always: bool = False) -> None:
        """Answer a request for JSON, one whose schema allows this value."""
        self.script("json", json.dumps(value), when=when, always=always, value=value)

    def make_json(self, make: Callable[[Request], object]) -> None:
        """Answer every request for JSON that no other answer fits with what this makes of it, unless None."""
        self._make = make

    def hold(self, text: str, *, when: When = None) -> Held:
        """Answer with this text, each word of which waits for `release()`."""
        held = Held(text)
        self.chat(held, when=when)
        return held

    def chat(self, script: Script | Step | str, *, when: When = None, always: bool = False) -> None:
        self.script("chat", script, when=when, always=always)

    def hear(self, text: str) -> None:
        """Say what the next recording says."""
        self.script("transcriptions", text)

    def fail(self, route: str = "chat", *, times: int = 1, step: Fail | Cut | Hang | None = None) -> None:
        """Let the next requests of a route fail: chat, json, embeddings, transcriptions, speech or models."""
        for _ in range(times):
            self.script(route, step or Fail())

    def script(
        self,
        route: str,
        script: Script | Step | str,
        *,
        when: When = None,
        always: bool = False,
        value: object = None,
    ) -> None:
        """Write an answer for any route; one in JSON that has a `value` is for schemas that allow it."""
        if not isinstance(script, Script):
            script = Script(script)
        if when is None:
            matches: Callable[[str], bool] = lambda _: True  # noqa: E731 - a constant needs no name
        elif isinstance(when, str):
            matches = lambda text, part=when: part in text  # noqa: E731
        else:
            matches = when
        self._rules.setdefault(route, []).append(Rule(script, matches, not always, value))

    async def arrived(
        self, count: int = 1, *, route: str = "chat", when: str = "", seconds: float = 20
    ) -> Request:
        """Wait until the `count`-th request of a route, in which the user says `when`, has come; give it."""

        def nth() -> Request | None:
            of_route = [request for request in self.requests if request.route == route]
            matching = [request for request in of_route if not when or when in request.user_text]
            return matching[count - 1] if len(matching) >= count else None

        def wait() -> Request:
            with self._arrival:
                if not self._arrival.wait_for(lambda: nth() is not None, seconds):
                    raise TimeoutError(f"no {count}. request to {route} in {seconds} s")
            request = nth()
            assert request is not None
            return request

        return await asyncio.to_thread(wait)

    async def _run(self) -> None:
        loop, stopped = asyncio.get_running_loop(), asyncio.Event()
        connections: set[asyncio.Task[None]] = set()

        def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections += 1
            task = loop.create_task(serve_connection(reader, writer, self._record, self._route))
            connections.add(task)
            task.add_done_callback(connections.discard)

        server = await asyncio.start_server(connect, "127.0.0.1", 0)
        self._stop = lambda: loop.call_soon_threadsafe(stopped.set)
        self._ready.set_result(server.sockets[0].getsockname()[1])
        await stopped.wait()
        server.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    def _record(self, request: Request) -> None:
        with self._arrival:
            self.requests.append(request)
            self._arrival.notify_all()

    def _take(self, route: str, text: str, schema: dict[str, Any] | None = None) -> Script | None:
        rules = self._rules.get(route, [])
        for rule in rules:
            if rule.matches(text) and (schema is None or rule.fits(schema)):
                if rule.once:
                    rules.remove(rule)
                return rule.script
        return None

    async def _route(self, request: Request, reply: Reply) -> None:
        if self.api_key is not None and request.headers.get("authorization") != f"Bearer {self.api_key}":
            return await chat.fail(Fail(401, "Incorrect API key provided"), reply)
        match request.path.removeprefix("/v1"):
            case "/chat/completions":
                script = self._take(request.route, request.user_text, request.schema)
                await chat.complete(request, reply, script or self._default(request))
            case "/embeddings":
                if await self._interlude("embeddings", json.dumps(request.json["input"]), reply) is not None:
                    await reply.json(senses.embeddings(request.json, self.dimensions))
            case "/audio/transcriptions":
                await self._transcribe(request, reply)
            case "/audio/speech":
                await self._speak(request.json, reply)
            case "/audio/voices" if self.voices is not None:
                await reply.json(self.voices)
            case "/models":
                if await self._interlude("models", "", reply) is not None:
                    entry = {"id": self.model, "object": "model", "created": 0, "owned_by": "test"}
                    meta = {"n_ctx": self.context_window, "n_ctx_train": self.context_window}
                    await reply.json({"object": "list", "data": [{**entry, "meta": meta}]})
            case "/props":
                if await self._interlude("props", "", reply) is not None:
                    await reply.json({"default_generation_settings": {"n_ctx": self.context_window}})
            case _:
                await chat.fail(Fail(404, f"no route {request.path}"), reply)
        return None

    def _default(self, request: Request) -> Script:
        if request.schema is None:
            return Script(f"You said: {request.user_text}")
        made = self._make(request)
        return Script(json.dumps(chat.instance(request.schema) if made is None else made))

    async def _interlude(self, route: str, text: str, reply: Reply) -> str | None:
        """Play a route's script before its answer: its text, or None when it has answered already."""
        said = ""
        for step in self._take(route, text) or ():
            match step:
                case Fail():
                    await chat.fail(step, reply)
                    return None
                case Text():
                    said += step.text
                case Pause() | Gate() | Cut() | Hang():
                    await chat.control(step, reply)
                case _:
                    raise AssertionError(f"{step} has no meaning in {route}")
        return said

    async def _transcribe(self, request: Request, reply: Reply) -> None:
        fields = senses.form(request.headers["content-type"], request.body)
        said = await self._interlude("transcriptions", "", reply)
        if said is None:
            return
        text = said or self.heard
        match fields.get("response_format", "json"):
            case "text":
                await reply.whole(200, text.encode(), {"content-type": "text/plain; charset=utf-8"})
            case "verbose_json":
                await reply.json({"text": text, "language": "en", "duration": 1.0, "segments": []})
            case _:
                await reply.json({"text": text})

    async def _speak(self, body: dict[str, Any], reply: Reply) -> None:
        """A text in the script sends the sound of so many characters before what comes next is done."""
        raw = body.get("response_format") == "pcm"
        sound = senses.tone(body["input"])
        data, sent = sound if raw else senses.wav(sound), 0
        headers = {"content-type": "audio/pcm" if raw else "audio/wav"}
        for step in self._take("speech", body["input"]) or ():
            match step:
                case Fail():
                    await chat.fail(step, reply)
                    return
                case Text():
                    await reply.start(200, headers)
                    sent = len(senses.tone(step.text))
                    await reply.data(data[:sent])
                case _:
                    await chat.control(step, reply)
        if not reply.started:
            await reply.start(200, headers)
        for start in range(sent, len(data), 4800):
            await reply.data(data[start : start + 4800])
        await reply.end()


def _nothing(_: Request) -> None:
    return None
