"""A chat with any OpenAI-compatible server: streaming, patient before the first token, honest after it."""

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2
import jsonschema
import msgspec
import openai
import structlog
from openai.types.chat import ChatCompletionChunk

from alicia.errors import ModelUnavailable, without_password
from alicia.llm.assembly import Assembly
from alicia.llm.failures import FAILURES, BrokenOffError, explain, retry_after, retryable
from alicia.llm.messages import Delta, Finish, Message, TextDelta, Tool, wire_message, wire_tool
from alicia.llm.window import find_window

log = structlog.stdlib.get_logger(__name__)

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Patience(msgspec.Struct, frozen=True):
    """How long to wait, in seconds, and how often to try.

    `first_token` is long because a model may have to read a long prompt, or to be loaded, before it speaks.
    """

    connect: float = 5.0
    first_token: float = 120.0
    idle: float = 30.0
    retries: int = 2
    back_off: float = 0.25
    longest_pause: float = 3.0
    longest_wait: float = 10.0


class ChatModel:
    """One model behind one server, over one pool of connections; safe to share between conversations.

    `variables` is what the names of the operator's settings begin with, for errors that tell what to change.
    """

    def __init__(
        self,
        url: str,
        model: str,
        api_key: str | None = None,
        *,
        patience: Patience | None = None,
        temperature: float | None = None,
        variables: str = "ALICIA_LLM",
    ) -> None:
        self.url = url
        self._shown = without_password(url)
        self.model = model
        self._patience = patience or Patience()
        self._temperature = temperature
        self._variables = variables
        self._api_key = api_key
        host = urlsplit(url).hostname
        # OpenAI's own newer models refuse the name that everyone else knows.
        self._limit = "max_completion_tokens" if host == "api.openai.com" else "max_tokens"
        timeout = httpx2.Timeout(self._patience.idle, connect=self._patience.connect, read=None)
        self._client = openai.AsyncOpenAI(
            base_url=url,
            api_key=api_key or "none",
            max_retries=0,
            timeout=timeout,
            # A proxy for the world outside cannot reach this machine's own server.
            http_client=openai.DefaultAsyncHttpxClient(timeout=timeout, trust_env=host not in LOOPBACK),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections; answers that still run end with ModelUnavailable."""
        await self._client.close()

    async def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int | None = None,
        tools: Sequence[Tool] = (),
        schema: dict[str, Any] | None = None,
    ) -> AsyncGenerator[Delta, None]:
        """Ask, and yield the answer as it comes; a `Finish` is the last delta of an answer that is whole.

        ModelUnavailable says why there is none, or no more of it. Failures before the first token are tried
        again; later ones are not, since the listener has heard a part. Closing the generator (use
        `contextlib.aclosing`) or cancelling its task drops the connection, so that the server stops at once.
        """
        request = self._request(messages, max_tokens, tools, schema)
        for attempt in range(self._patience.retries + 1):
            assembly = Assembly()
            try:
                async with contextlib.aclosing(self._chunks(request, assembly)) as chunks:
                    async for chunk in chunks:
                        for delta in assembly.feed(chunk):
                            yield delta
                finish = assembly.finish()
                for delta in assembly.rest():
                    yield delta
                yield finish
            except FAILURES as error:
                if assembly.begun or attempt == self._patience.retries or not retryable(error):
                    for delta in assembly.rest():
                        yield delta
                    raise self._explain(error) from error
                await self._wait(attempt, error)
            else:
                return

    async def text(self, messages: Sequence[Message], *, max_tokens: int | None = None) -> str:
        """The whole answer, without its reasoning."""
        parts: list[str] = []
        async with contextlib.aclosing(self.stream(messages, max_tokens=max_tokens)) as deltas:
            async for delta in deltas:
                if isinstance(delta, TextDelta):
                    parts.append(delta.text)
        return "".join(parts)

    async def complete(
        self, messages: Sequence[Message], *, schema: dict[str, Any], max_tokens: int | None = None
    ) -> Any:
        """An answer in JSON that fits the schema; ModelUnavailable when the model gives another."""
        parts: list[str] = []
        async with contextlib.aclosing(self.stream(messages, max_tokens=max_tokens, schema=schema)) as deltas:
            async for delta in deltas:
                if isinstance(delta, TextDelta):
                    parts.append(delta.text)
                elif isinstance(delta, Finish) and delta.reason == "length":
                    raise ModelUnavailable(
                        f"The model at {self._shown} did not end its JSON within {max_tokens} tokens."
                    )
        try:
            value = msgspec.json.decode(_unfenced("".join(parts)))
            jsonschema.validate(value, schema)
        except (msgspec.DecodeError, jsonschema.ValidationError) as error:
            raise ModelUnavailable(
                f"The model {self.model!r} at {self._shown} did not answer in the JSON that was asked for: "
                f"set {self._variables}_MODEL to one that can."
            ) from error
        return value

    async def models(self) -> list[dict[str, Any]]:
        """What the server says of the models it has; ModelUnavailable when it says nothing."""
        try:
            async with asyncio.timeout(self._patience.connect):
                page = await self._client.models.list()
            return [model.model_dump() for model in page.data]
        except (*FAILURES, TypeError) as error:
            raise self._explain(error) from error

    async def context_window(self, default: int) -> int:
        """How many tokens prompt and answer may have together, as far as the server tells."""
        return await find_window(self._client, self.url, self.model, self._patience.connect) or default

    def _request(
        self,
        messages: Sequence[Message],
        max_tokens: int | None,
        tools: Sequence[Tool],
        schema: dict[str, Any] | None,
    ) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.model,
            "messages": [wire_message(message) for message in messages],
            "stream_options": {"include_usage": True},
        }
        if max_tokens is not None:
            request[self._limit] = max_tokens
        if self._temperature is not None:
            request["temperature"] = self._temperature
        if tools:
            request["tools"] = [wire_tool(tool) for tool in tools]
        if schema is not None:
            form = {"name": "answer", "strict": True, "schema": schema}
            request["response_format"] = {"type": "json_schema", "json_schema": form}
        return request

    async def _chunks(
        self, request: dict[str, Any], assembly: Assembly
    ) -> AsyncGenerator[ChatCompletionChunk, None]:
        """One attempt. The time to the first token includes everything before it."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._patience.first_token
        async with asyncio.timeout_at(deadline):
            # Not `chat.completions.create`: it walks through every message by type, 40 ms for 200 of them.
            response = await self._client.post(
                "/chat/completions",
                cast_to=ChatCompletionChunk,
                body={**request, "stream": True},
                stream=True,
                stream_cls=openai.AsyncStream[ChatCompletionChunk],
            )
        try:
            chunks: AsyncIterator[ChatCompletionChunk] = aiter(response)
            while True:
                if assembly.begun:
                    deadline = loop.time() + self._patience.idle
                async with asyncio.timeout_at(deadline):
                    chunk = await anext(chunks, None)
                if chunk is None:
                    break
                yield chunk
        finally:
            await response.close()
        if not assembly.ended:
            raise BrokenOffError

    async def _wait(self, attempt: int, error: Exception) -> None:
        asked = retry_after(error)
        if asked is not None and asked > self._patience.longest_wait:
            raise self._explain(error) from error
        # Spread out, so that conversations that failed together do not come back together.
        own = min(self._patience.back_off * 2**attempt, self._patience.longest_pause)
        own *= 0.5 + random.random()  # noqa: S311
        log.warning("model asked again", attempt=attempt + 1, error=type(error).__name__)
        await asyncio.sleep(own if asked is None else asked)

    def _explain(self, error: Exception) -> ModelUnavailable:
        return explain(
            error, url=self.url, model=self.model, variables=self._variables, api_key=self._api_key
        )


def _unfenced(text: str) -> str:
    """JSON without the code fence that some models put around it."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text[3:-3].removeprefix("json")
    return text
