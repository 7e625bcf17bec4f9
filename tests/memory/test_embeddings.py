"""Vectors from the embedded model and from any OpenAI-compatible server."""

import asyncio

import pytest

from alicia.errors import ModelUnavailable
from alicia.local.embedder import LocalEmbedder
from alicia.memory.embeddings import EmbeddingServer
from alicia.storage.memories import Embedding
from support import scripted as script
from support.scripted import ScriptedServer


def cosine(one: Embedding, two: Embedding) -> float:
    return sum(a * b for a, b in zip(one.vector, two.vector, strict=True))


async def test_the_embedded_model_puts_like_meanings_near(embedder: LocalEmbedder) -> None:
    like, also, other = await embedder.embed(["I love pizza.", "Pizza is my favourite food.", "Shares fell."])
    assert len(like.vector) == 384
    assert cosine(like, like) == pytest.approx(1.0, abs=1e-5)
    assert cosine(like, also) > 0.7 > 0.3 > cosine(like, other)


async def test_a_text_has_the_same_vector_alone_and_among_others(embedder: LocalEmbedder) -> None:
    texts = [f"{'word ' * n}of number {n}" for n in range(40)]
    together = await embedder.embed(texts)
    for number in (0, 17, 39):
        (alone,) = await embedder.embed([texts[number]])
        assert cosine(alone, together[number]) == pytest.approx(1.0, abs=0.01)


async def test_the_event_loop_goes_on_while_the_embedded_model_works(embedder: LocalEmbedder) -> None:
    work = asyncio.create_task(embedder.embed(["a longer text about many things " * 20] * 32))
    turns = 0
    while not work.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 10


async def test_no_texts_give_no_vectors(embedder: LocalEmbedder, scripted: ScriptedServer) -> None:
    assert await embedder.embed([]) == []
    async with EmbeddingServer(scripted.url, "scripted") as server:
        assert await server.embed([]) == []


async def test_a_server_is_asked_for_many_texts_at_once(scripted: ScriptedServer) -> None:
    async with EmbeddingServer(scripted.url, "scripted", "key") as server:
        vectors = await server.embed([f"text {n}" for n in range(100)])
    assert len(vectors) == 100
    assert {vector.model for vector in vectors} == {"scripted"}
    assert [len(request.json["input"]) for request in scripted.requests] == [64, 36]
    assert cosine(vectors[3], vectors[3]) == pytest.approx(1.0)


async def test_a_server_that_fails_is_named_with_its_settings(scripted: ScriptedServer) -> None:
    scripted.fail("embeddings", times=2)
    async with EmbeddingServer(scripted.url, "scripted", retries=0) as server:
        with pytest.raises(ModelUnavailable, match="ALICIA_EMBEDDING_URL"):
            await server.embed(["text"])


async def test_a_server_that_hangs_is_given_up(scripted: ScriptedServer) -> None:
    scripted.fail("embeddings", step=script.Hang())
    async with EmbeddingServer(scripted.url, "scripted", timeout=0.1, retries=0) as server:
        with pytest.raises(ModelUnavailable, match="did not answer"):
            await server.embed(["text"])


async def test_a_model_with_too_long_vectors_is_refused_with_advice() -> None:
    with ScriptedServer(dimensions=1536) as server:
        async with EmbeddingServer(server.url, "wide") as wide:
            with pytest.raises(ModelUnavailable, match="set ALICIA_EMBEDDING_MODEL to a smaller one"):
                await wide.embed(["text"])
