"""The scripted server, as another OpenAI client sees it."""

import asyncio
import math
from collections.abc import AsyncIterator

import openai
import pytest

from support import scripted as script
from support.scripted import Script, ScriptedServer


@pytest.fixture
async def client(scripted: ScriptedServer) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=scripted.url, api_key="key", max_retries=0) as opened:
        yield opened


async def answer(client: openai.AsyncOpenAI, text: str) -> str:
    chat = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
    return chat.choices[0].message.content or ""


async def test_without_a_script_it_echoes(scripted: ScriptedServer, client: openai.AsyncOpenAI) -> None:
    assert await answer(client, "Hello") == "You said: Hello"
    assert scripted.chats[0].user_text == "Hello"


async def test_answers_are_used_once_in_order_by_the_requests_they_match(
    scripted: ScriptedServer, client: openai.AsyncOpenAI
) -> None:
    scripted.say("Rain.", when="weather")
    scripted.say("One.")
    scripted.say("Two.")
    scripted.say("Always.", when=lambda text: text.endswith("?"), always=True)
    given = [await answer(client, text) for text in ("a", "the weather", "b", "c?", "d?", "e")]
    assert given == ["One.", "Rain.", "Two.", "Always.", "Always.", "You said: e"]


async def test_a_whole_answer_has_reasoning_and_tool_calls(
    scripted: ScriptedServer, client: openai.AsyncOpenAI
) -> None:
    scripted.chat(Script(script.Reasoning("Hm."), script.ToolCall("add", {"a": 1})))
    chat = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "1+1"}])
    message = chat.choices[0].message
    assert chat.choices[0].finish_reason == "tool_calls"
    assert (message.model_extra or {})["reasoning_content"] == "Hm."
    assert message.tool_calls is not None
    assert message.tool_calls[0].id == "call_0"


async def test_a_schema_is_filled_when_no_answer_was_written(client: openai.AsyncOpenAI) -> None:
    schema: dict[str, object] = {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": {"type": "string"}}, "kind": {"enum": ["a", "b"]}},
        "required": ["facts", "kind"],
    }
    chat = await client.chat.completions.create(
        model="m",
        messages=[{"role": "user", "content": "facts"}],
        response_format={"type": "json_schema", "json_schema": {"name": "f", "schema": schema}},
    )
    assert chat.choices[0].message.content == '{"facts": [], "kind": "a"}'


async def test_requests_for_json_and_for_text_take_only_answers_of_their_own(
    scripted: ScriptedServer, client: openai.AsyncOpenAI
) -> None:
    async def ask(name: str) -> str:
        schema: dict[str, object] = {
            "type": "object",
            "properties": {name: {"type": "string"}},
            "required": [name],
            "additionalProperties": False,
        }
        chat = await client.chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": "x"}],
            response_format={"type": "json_schema", "json_schema": {"name": "f", "schema": schema}},
        )
        return chat.choices[0].message.content or ""

    scripted.say("Some text.")
    scripted.answer_json({"fact": "Tea is hot."})
    scripted.answer_json({"title": "Tea"})
    assert [await ask("title"), await ask("title"), await ask("fact")] == [
        '{"title": "Tea"}',
        '{"title": ""}',
        '{"fact": "Tea is hot."}',
    ]
    assert await answer(client, "Hello") == "Some text."
    assert (len(scripted.asked), len(scripted.chats)) == (3, 1)


async def test_a_gate_holds_the_answer_until_the_test_opens_it(
    scripted: ScriptedServer, client: openai.AsyncOpenAI
) -> None:
    gate = script.Gate()
    scripted.chat(Script("Before.", gate, " After."))
    waiting = asyncio.create_task(answer(client, "x"))
    await gate.reached()
    assert not waiting.done()
    gate.open()
    assert await waiting == "Before. After."
    assert await scripted.chats[0].ended() == "sent"


@pytest.mark.parametrize("route", ["embeddings", "models"])
async def test_any_route_can_fail(scripted: ScriptedServer, client: openai.AsyncOpenAI, route: str) -> None:
    async def ask() -> object:
        if route == "models":
            return await client.models.list()
        return await client.embeddings.create(model="m", input="x")

    scripted.fail(route, step=script.Fail(503))
    scripted.fail(route, step=script.Cut())
    with pytest.raises(openai.InternalServerError):
        await ask()
    with pytest.raises(openai.APIConnectionError):
        await ask()
    assert await ask()


@pytest.mark.parametrize("encoding", ["float", "base64"])
async def test_embeddings_are_unit_vectors_near_for_texts_that_share_words(
    client: openai.AsyncOpenAI, encoding: str
) -> None:
    texts = ["the cat likes milk", "a cat likes milk", "stock markets fell today", "the cat likes milk"]
    form = "float" if encoding == "float" else "base64"
    found = await client.embeddings.create(model="m", input=texts, encoding_format=form)
    if encoding == "base64":
        found = await client.embeddings.create(model="m", input=texts)
    cat, other_cat, markets, again = [item.embedding for item in found.data]

    def likeness(a: list[float], b: list[float]) -> float:
        return sum(x * y for x, y in zip(a, b, strict=True))

    assert len(cat) == 384
    assert math.isclose(likeness(cat, cat), 1, abs_tol=1e-5)
    assert cat == again
    assert likeness(cat, other_cat) > likeness(cat, markets) + 0.3


async def test_speech_goes_both_ways(scripted: ScriptedServer, client: openai.AsyncOpenAI) -> None:
    spoken = await client.audio.speech.create(model="m", voice="heart", input="Hello", response_format="pcm")
    assert len(spoken.content) == 5 * 50 * 24_000 // 1000 * 2
    wav = await client.audio.speech.create(model="m", voice="heart", input="Hello", response_format="wav")
    assert wav.content[:4] == b"RIFF"
    scripted.hear("Hello there.")
    heard = await client.audio.transcriptions.create(model="m", file=("a.wav", wav.content))
    assert heard.text == "Hello there."
    heard = await client.audio.transcriptions.create(model="m", file=("a.wav", wav.content))
    assert heard.text == scripted.heard
    assert wav.content in scripted.requests[-1].body


async def test_a_step_that_means_nothing_to_a_route_is_told(
    scripted: ScriptedServer, client: openai.AsyncOpenAI
) -> None:
    scripted.script("embeddings", script.ToolCall("add"))
    with pytest.raises(openai.InternalServerError, match="no meaning in embeddings"):
        await client.embeddings.create(model="m", input="x")
