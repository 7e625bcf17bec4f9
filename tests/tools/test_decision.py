"""The decision step: asked only when a tool could help, and never a reason to fail."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from alicia.llm.chat import ChatModel, Patience
from alicia.llm.messages import Message, Tool, ToolCall
from alicia.tools.builtin.calculator import calculator
from alicia.tools.builtin.clock import current_time
from alicia.tools.decision.choice import choice_prompt, choice_schema
from alicia.tools.decision.decide import Decider
from alicia.tools.decision.gate import candidates
from alicia.tools.decision.native import ToolCalling
from alicia.tools.decision.plain import without_calls
from support import scripted as script
from support.scripted import Script, ScriptedServer

HINTS = {tool.name: tool.hint for tool in (calculator, current_time()) if tool.hint is not None}
TOOLS = [calculator.offer(), current_time().offer()]
WEATHER = Tool(
    "weather__get_forecast",
    "Forecasts rain, wind and temperature for a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


@pytest.fixture
async def model(scripted: ScriptedServer) -> AsyncIterator[ChatModel]:
    patience = Patience(connect=2, retries=0)
    async with ChatModel(scripted.url, scripted.model, patience=patience) as opened:
        yield opened


def choice(tool: str, **arguments: Any) -> str:
    written = {"tool": tool} if tool == "none" else {"tool": tool, "arguments": arguments}
    return msgspec.json.encode(written).decode()


async def test_a_message_that_no_tool_could_help_with_costs_no_question(
    scripted: ScriptedServer, model: ChatModel
) -> None:
    assert await Decider(model).decide("Tell me a story.", [], [*TOOLS, WEATHER], HINTS) is None
    assert scripted.requests == []


async def test_the_model_chooses_among_the_tools_that_could_help(
    scripted: ScriptedServer, model: ChatModel
) -> None:
    scripted.script("json", choice("calculator", expression="12 * 7"))
    call = await Decider(model).decide("What is 12 times 7?", [], [*TOOLS, WEATHER], HINTS)
    assert call == ToolCall("call_1", "calculator", '{"expression":"12 * 7"}')
    [request] = scripted.requests
    options = request.json["response_format"]["json_schema"]["schema"]["anyOf"]
    assert [option["properties"]["tool"]["const"] for option in options] == ["none", "calculator"]


async def test_the_model_may_choose_to_answer(scripted: ScriptedServer, model: ChatModel) -> None:
    scripted.script("json", choice("none"))
    assert await Decider(model).decide("How many people live in 10 Downing Street?", [], TOOLS, HINTS) is None


async def test_a_tool_is_not_chosen_twice_for_one_answer(scripted: ScriptedServer, model: ChatModel) -> None:
    used = [ToolCall("call_1", "calculator", '{"expression":"12 * 7"}')]
    assert await Decider(model).decide("What is 12 times 7?", [], TOOLS, HINTS, used=used) is None
    assert scripted.requests == []


async def test_a_short_message_is_read_together_with_what_came_before(
    scripted: ScriptedServer, model: ChatModel
) -> None:
    scripted.script("json", choice("current_time", time_zone="Asia/Tokyo"))
    earlier = [Message("user", "What time is it in London?"), Message("assistant", "It is noon in London.")]
    call = await Decider(model).decide("And in Tokyo?", earlier, TOOLS, HINTS)
    assert call is not None
    assert call.name == "current_time"
    assert "It is noon in London." in scripted.requests[0].json["messages"][-1]["content"]


@pytest.mark.parametrize(
    "answer",
    [
        Script("I would use the calculator."),
        Script('{"tool": "calculator"}'),
        Script(script.Fail(500)),
        Script(),
    ],
)
async def test_a_model_that_does_not_decide_is_left_to_answer(
    scripted: ScriptedServer, model: ChatModel, answer: Script
) -> None:
    scripted.script("json", answer)
    assert await Decider(model).decide("What is 12 times 7?", [], TOOLS, HINTS) is None


def test_a_tool_without_a_hint_is_known_by_its_name_or_two_words_of_its_description() -> None:
    def found(text: str) -> bool:
        return candidates([WEATHER], {}, text) == [WEATHER]

    assert found("What's the weather like in Graz?")
    assert found("Will there be wind and rain tomorrow?")
    assert not found("I like the rain.")
    assert not found("Get me a list of names, please.")


def test_the_prompt_begins_the_same_for_every_message() -> None:
    first = choice_prompt("What is 1 + 1?", [], TOOLS, HINTS)
    second = choice_prompt("How late is it?", [], TOOLS, HINTS)
    assert first[:-1] == second[:-1]
    assert len(first) > 5


def test_schemas_that_a_grammar_cannot_hold_become_any_object() -> None:
    simple: dict[str, Any] = {
        "type": "object",
        "properties": {"pattern": {"type": "string", "pattern": "a+", "maxLength": 9, "description": "…"}},
        "required": ["pattern"],
    }
    nested: dict[str, Any] = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/x"}},
        "$defs": {"x": {}},
    }
    options = choice_schema([Tool("a", "", simple), Tool("b", "", nested)])["anyOf"]
    assert options[1]["properties"]["arguments"] == {
        "type": "object",
        "properties": {"pattern": {"type": "string"}},
        "required": ["pattern"],
    }
    assert options[2]["properties"]["arguments"] == {"type": "object"}


async def test_a_model_that_calls_tools_is_found_out_once(scripted: ScriptedServer, model: ChatModel) -> None:
    scripted.chat(Script(script.ToolCall("ring_bell", {"times": 2})))
    calling = ToolCalling(model)
    assert await calling.native()
    assert await calling.native()
    assert len(scripted.requests) == 1


async def test_a_model_that_writes_text_instead_of_calling_is_found_out_once(
    scripted: ScriptedServer, model: ChatModel
) -> None:
    scripted.say('{"name": "ring_bell", "arguments": {"times": 2}}')
    calling = ToolCalling(model)
    assert not await calling.native()
    assert not await calling.native()
    assert len(scripted.requests) == 1


async def test_a_model_that_is_down_is_asked_again_but_not_for_ever(
    scripted: ScriptedServer, model: ChatModel
) -> None:
    calling = ToolCalling(model)
    scripted.chat(Script(script.Fail(400, "tools are not supported")), always=True)
    for _ in range(5):
        assert not await calling.native()
    assert len(scripted.requests) == 3


async def test_a_setting_is_believed_without_asking(scripted: ScriptedServer, model: ChatModel) -> None:
    assert await ToolCalling(model, native=True).native()
    assert not await ToolCalling(model, native=False).native()
    assert scripted.requests == []


def test_calls_and_results_are_told_in_words_to_a_model_without_a_template_for_them() -> None:
    call = ToolCall("call_1", "calculator", '{"expression":"2*3"}')
    prompt = [
        Message("system", "You are Alicia."),
        Message("user", "What is 2 times 3?"),
        Message("assistant", "", (call,)),
        Message("tool", '{"result":"6"}', tool_call_id="call_1"),
    ]
    assert without_calls(prompt) == [
        Message("system", "You are Alicia."),
        Message("user", '[calculator({"expression":"2*3"}) gave: {"result":"6"}]\n\nWhat is 2 times 3?'),
    ]


def test_a_prompt_without_calls_stays_as_it_is() -> None:
    prompt = [Message("system", "a"), Message("user", "b"), Message("assistant", "c"), Message("user", "d")]
    assert without_calls(prompt) == prompt
