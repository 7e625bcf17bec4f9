"""Text as vectors: what recall asks of an embedding model, and any OpenAI-compatible server as one."""

import asyncio
from collections.abc import Sequence
from typing import Final, Protocol, Self
from urllib.parse import urlsplit

import openai

from alicia.errors import ModelUnavailable, without_password
from alicia.storage.memories import DIMENSIONS, Embedding

BATCH: Final = 64
"""How many texts go to a server in one request."""

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Embedder(Protocol):
    """An embedding model. Vectors of different models are never compared, so `model` must name it exactly."""

    @property
    def model(self) -> str:
        """The name that is stored beside each vector."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """One vector for each text, in order; ModelUnavailable when there are none to be had."""
        ...


class EmbeddingServer:
    """A model behind an OpenAI-compatible server. One request at a time is tried again once."""

    def __init__(
        self, url: str, model: str, api_key: str | None = None, *, timeout: float = 10.0, retries: int = 1
    ) -> None:
        self.url = without_password(url)
        self.model = model
        self._timeout = timeout
        self._client = openai.AsyncOpenAI(
            base_url=url,
            api_key=api_key or "none",
            max_retries=retries,
            timeout=timeout,
            # A proxy for the world outside cannot reach this machine's own server.
            http_client=openai.DefaultAsyncHttpxClient(trust_env=urlsplit(url).hostname not in _LOOPBACK),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.close()

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """One vector for each text, in order."""
        vectors: list[Embedding] = []
        for start in range(0, len(texts), BATCH):
            vectors += await self._request(texts[start : start + BATCH])
        return vectors

    async def _request(self, texts: Sequence[str]) -> list[Embedding]:
        try:
            async with asyncio.timeout(3 * self._timeout):
                # Servers refuse empty texts; a space means as little.
                answer = await self._client.embeddings.create(
                    model=self.model, input=[text or " " for text in texts], encoding_format="float"
                )
        except (openai.OpenAIError, TimeoutError, ValueError) as error:
            raise ModelUnavailable(
                f"The embeddings server at {self.url} did not answer ({type(error).__name__}): "
                "see ALICIA_EMBEDDING_URL, ALICIA_EMBEDDING_MODEL and ALICIA_EMBEDDING_API_KEY."
            ) from error
        rows = sorted(answer.data or [], key=lambda row: row.index)
        if [row.index for row in rows] != list(range(len(texts))):
            raise ModelUnavailable(
                f"The embeddings server at {self.url} answered {len(rows)} vectors for {len(texts)} texts."
            )
        for row in rows:
            if not 0 < len(row.embedding) <= DIMENSIONS:
                raise ModelUnavailable(
                    f"The model {self.model!r} makes vectors of {len(row.embedding)} numbers, but Alicia "
                    f"stores at most {DIMENSIONS}: set ALICIA_EMBEDDING_MODEL to a smaller one."
                )
        return [Embedding(model=self.model, vector=row.embedding) for row in rows]
