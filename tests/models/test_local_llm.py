"""The real local language model, through the same client as any other server."""

import asyncio
import os
import secrets
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

import pytest

from alicia.engine.prompt import Turn, build
from alicia.engine.sentences import Splitter
from alicia.errors import ModelUnavailable
from alicia.llm.chat import ChatModel
from alicia.llm.messages import Finish, Message, TextDelta
from alicia.local import notify, ports
from alicia.local.llm import CONTEXT
from alicia.local.process import Process
from alicia.local.weights import SMOLLM2

KEY = secrets.token_urlsafe(8)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """SmolLM2 behind llama.cpp's server, as `alicia up` runs it."""
    address = f"http://127.0.0.1:{ports.choose()}/v1"
    settings = {"ALICIA_LLM_URL": address, "ALICIA_LLM_MODEL": "smollm2", "ALICIA_LLM_API_KEY": KEY}
    reading, writing = os.pipe()
    process = Process.start(
        [sys.executable, "-m", "alicia.local.llm", str(SMOLLM2.path), str(writing)],
        log=tmp_path_factory.mktemp("llm") / "llm.log",
        env=os.environ | settings,
        descriptors=[writing],
    )
    os.close(writing)
    try:
        with os.fdopen(reading) as lines:
            assert lines.readline().startswith(notify.WARM), process.last_words()
        yield address
    finally:
        asyncio.run(process.stop())


@pytest.fixture
async def model(url: str) -> AsyncIterator[ChatModel]:
    async with ChatModel(url, "smollm2", KEY, temperature=0.0) as opened:
        yield opened


async def test_an_answer_streams_in_and_can_be_cut_into_sentences(model: ChatModel) -> None:
    prompt = build([], "Tell me about the sea in three sentences.", now=datetime.now(UTC))
    splitter = Splitter()
    text, sentences = "", list[str]()
    deltas = [delta async for delta in model.stream(prompt.messages, max_tokens=48)]
    for delta in deltas:
        if isinstance(delta, TextDelta):
            text += delta.text
            sentences += splitter.feed(delta.text)
    sentences += splitter.flush()
    assert len(deltas) > 10
    assert text.strip()
    assert "".join(sentences) == text
    finish = deltas[-1]
    assert isinstance(finish, Finish)
    assert finish.reason in ("stop", "length")
    assert finish.completion_tokens is not None
    assert finish.prompt_tokens is not None


async def test_what_the_prompts_of_two_turns_share_is_read_only_once(model: ChatModel) -> None:
    noon = datetime(2025, 11, 15, 12, 0, tzinfo=UTC)
    first = build([], "What is the capital of France, and what is it known for?", now=noon)
    reply = await model.text(first.messages, max_tokens=12)
    history = [
        Turn(id="u1", role="user", text="What is the capital of France, and what is it known for?"),
        Turn(id="a1", role="assistant", text=reply),
    ]
    second = build(history, "And of Spain?", now=noon)
    finish = [delta async for delta in model.stream(second.messages, max_tokens=4)][-1]
    assert isinstance(finish, Finish)
    assert finish.cached_tokens is not None
    assert finish.cached_tokens > 40


async def test_an_answer_in_json_fits_its_schema(model: ChatModel) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"city": {"enum": ["Paris", "Rome"]}, "large": {"type": "boolean"}},
        "required": ["city", "large"],
        "additionalProperties": False,
    }
    answer = await model.complete([Message("user", "Name a city.")], schema=schema, max_tokens=200)
    assert set(answer) == {"city", "large"}


async def test_an_answer_that_nobody_hears_stops_and_frees_the_model(model: ChatModel) -> None:
    endless = [Message("user", "Count from one to ten thousand.")]
    async with aclosing(model.stream(endless, max_tokens=4000)) as deltas:
        await anext(deltas)
    # There is one slot: this answers only once the other has let go of it.
    assert await model.text([Message("user", "Hello.")], max_tokens=5)


async def test_the_server_tells_its_window_and_refuses_a_wrong_key(model: ChatModel, url: str) -> None:
    assert await model.context_window(default=1) == CONTEXT
    async with ChatModel(url, "smollm2", "wrong") as stranger:
        with pytest.raises(ModelUnavailable, match="ALICIA_LLM_API_KEY"):
            await stranger.text([Message("user", "Hello.")])
