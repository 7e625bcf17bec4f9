"""Answers in JSON, and what a server tells of its models."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from alicia.errors import ModelUnavailable
from alicia.llm.chat import ChatModel, Patience
from alicia.llm.messages import Message
from support import scripted as script
from support.scripted import Script, ScriptedServer

FACT: dict[str, Any] = {
    "type": "object",
    "properties": {"fact": {"type": "string"}, "weight": {"type": "number"}},
    "required": ["fact", "weight"],
    "additionalProperties": False,
}
ASK = [Message("user", "What do you know?")]


@pytest.fixture
async def model(scripted: ScriptedServer) -> AsyncIterator[ChatModel]:
    patience = Patience(connect=2, retries=0)
    async with ChatModel(scripted.url, scripted.model, patience=patience) as opened:
        yield opened


async def test_an_answer_in_json_fits_its_schema(scripted: ScriptedServer, model: ChatModel) -> None:
    scripted.answer_json({"fact": "Tea is hot.", "weight": 1})
    assert await model.complete(ASK, schema=FACT) == {"fact": "Tea is hot.", "weight": 1}
    asked = scripted.asked[0].json["response_format"]
    assert asked["type"] == "json_schema"
    assert asked["json_schema"]["schema"] == FACT


async def test_a_code_fence_and_thoughts_around_the_json_do_no_harm(
    scripted: ScriptedServer, model: ChatModel
) -> None:
    scripted.script("json", '<think>Easy.</think>```json\n{"fact": "x", "weight": 0}\n```')
    assert await model.complete(ASK, schema=FACT) == {"fact": "x", "weight": 0}


@pytest.mark.parametrize("answer", ["Tea is hot.", '{"fact": "x"}', "", "[1"])
async def test_another_answer_is_refused_with_advice(
    scripted: ScriptedServer, model: ChatModel, answer: str
) -> None:
    scripted.script("json", Script(answer))
    with pytest.raises(ModelUnavailable, match="set ALICIA_LLM_MODEL to one that can"):
        await model.complete(ASK, schema=FACT)


async def test_json_cut_at_the_limit_is_refused(scripted: ScriptedServer, model: ChatModel) -> None:
    scripted.answer_json({"fact": "a b c d e f", "weight": 0})
    with pytest.raises(ModelUnavailable, match="within 3 tokens"):
        await model.complete(ASK, schema=FACT, max_tokens=3)


async def test_the_window_is_what_the_list_of_models_says(scripted: ScriptedServer, model: ChatModel) -> None:
    scripted.context_window = 12345
    assert await model.context_window(default=1) == 12345


async def test_the_window_is_what_the_properties_say_when_the_list_fails(
    scripted: ScriptedServer, model: ChatModel
) -> None:
    scripted.context_window = 4096
    scripted.fail("models")
    assert await model.context_window(default=1) == 4096


async def test_the_window_is_the_default_when_the_server_tells_nothing(
    scripted: ScriptedServer, model: ChatModel
) -> None:
    scripted.fail("models")
    scripted.fail("props", step=script.Cut())
    assert await model.context_window(default=777) == 777


async def test_the_models_are_listed_or_the_reason_is_told(
    scripted: ScriptedServer, model: ChatModel
) -> None:
    assert [entry["id"] for entry in await model.models()] == ["scripted"]
    scripted.api_key = "secret"
    with pytest.raises(ModelUnavailable, match="ALICIA_LLM_API_KEY"):
        await model.models()
