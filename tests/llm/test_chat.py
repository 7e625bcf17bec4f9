"""Chats with an OpenAI-compatible server over HTTP."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from alicia.errors import ModelUnavailable
from alicia.llm.chat import ChatModel, Patience
from alicia.llm.messages import Delta, Finish, Message, ReasoningDelta, TextDelta, Tool, ToolCall
from support import scripted as script
from support.scripted import Script, ScriptedServer

HELLO = [Message("system", "Be brief."), Message("user", "Hello")]
QUICK = Patience(connect=2, first_token=20, idle=20, retries=2, back_off=0.001)


@pytest.fixture
async def model(scripted: ScriptedServer) -> AsyncIterator[ChatModel]:
    async with ChatModel(scripted.url, scripted.model, "key", patience=QUICK) as opened:
        yield opened


async def ask(model: ChatModel, *, tools: tuple[Tool, ...] = ()) -> list[Delta]:
    return [delta async for delta in model.stream(HELLO, tools=tools)]


async def collect(model: ChatModel, into: list[Delta]) -> None:
    """What came before a failure stays in the list."""
    async for delta in model.stream(HELLO):
        into.append(delta)


def text_of(deltas: list[Delta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


async def test_text_arrives_word_by_word_and_ends_with_a_finish(
    scripted: ScriptedServer, model: ChatModel
) -> None:
    scripted.say("Good morning. Nice day!")
    assert await ask(model) == [
        TextDelta("Good"),
        TextDelta(" morning."),
        TextDelta(" Nice"),
        TextDelta(" day!"),
        Finish("stop", prompt_tokens=3, completion_tokens=4),
    ]
    request = scripted.chats[0]
    assert request.json["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
    ]
    assert request.headers["authorization"] == "Bearer key"
    assert "tools" not in request.json
    assert "response_format" not in request.json


async def test_a_token_is_passed_on_before_the_next_one_is_made(
    scripted: ScriptedServer, model: ChatModel
) -> None:
    held = scripted.hold("One two")
    deltas = model.stream(HELLO)
    held.release()
    assert await anext(deltas) == TextDelta("One")
    held.release()
    assert await anext(deltas) == TextDelta(" two")
    await deltas.aclose()


async def test_the_limit_of_tokens_is_passed_on_and_told(scripted: ScriptedServer, model: ChatModel) -> None:
    scripted.say("one two three four")
    deltas = [delta async for delta in model.stream(HELLO, max_tokens=2)]
    assert text_of(deltas) == "one two"
    assert deltas[-1] == Finish("length", prompt_tokens=3, completion_tokens=2)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_reasoning_comes_in_whole_paragraphs_before_the_answer(
    scripted: ScriptedServer, model: ChatModel, field: str
) -> None:
    name = "reasoning_content" if field == "reasoning_content" else "reasoning"
    thoughts = script.Reasoning("First I look.\nThen I think.\n\nNow I know.", field=name)
    scripted.chat(Script(thoughts, "\n\nIt is so."))
    *deltas, _ = await ask(model)
    assert deltas[:2] == [ReasoningDelta("First I look.\nThen I think."), ReasoningDelta("Now I know.")]
    assert text_of(deltas) == "It is so."


async def test_think_blocks_are_reasoning(scripted: ScriptedServer, model: ChatModel) -> None:
    scripted.chat(script.Text("", pieces=["<th", "ink>Hm.", "\n\nYes", "</", "think>", "\n\nSure", "."]))
    *deltas, _ = await ask(model)
    assert deltas == [ReasoningDelta("Hm."), ReasoningDelta("Yes"), TextDelta("Sure"), TextDelta(".")]


async def test_tool_calls_are_put_together_from_their_pieces(
    scripted: ScriptedServer, model: ChatModel
) -> None:
    scripted.chat(
        Script(
            "Let me see.",
            script.ToolCall("add", {"a": 1, "b": 20}),
            script.ToolCall("now", id="call_x"),
        )
    )
    add = Tool("add", "Add two numbers.", {"type": "object", "properties": {"a": {"type": "integer"}}})
    deltas = await ask(model, tools=(add,))
    assert deltas[-3:-1] == [ToolCall("call_0", "add", '{"a": 1, "b": 20}'), ToolCall("call_x", "now", "{}")]
    assert isinstance(deltas[-1], Finish)
    assert deltas[-1].reason == "tool_calls"
    assert scripted.chats[0].json["tools"] == [
        {
            "type": "function",
            "function": {"name": "add", "description": "Add two numbers.", "parameters": add.parameters},
        }
    ]


async def test_tool_calls_and_results_go_back_to_the_model(
    scripted: ScriptedServer, model: ChatModel
) -> None:
    call = ToolCall("call_0", "add", '{"a": 1}')
    prompt = [*HELLO, Message("assistant", "", (call,)), Message("tool", "21", tool_call_id="call_0")]
    await model.text(prompt)
    assert scripted.chats[0].messages[2:] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "call_0", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
            ],
        },
        {"role": "tool", "content": "21", "tool_call_id": "call_0"},
    ]


@pytest.mark.parametrize(
    "failure",
    [
        script.Fail(500),
        script.Fail(503),
        script.Fail(429, retry_after=0),
        script.Cut(),
        Script("", script.Cut()),
    ],
    ids=["500", "503", "429", "cut before the headers", "cut after the headers"],
)
async def test_a_failure_before_the_first_token_is_tried_again(
    scripted: ScriptedServer, model: ChatModel, failure: Script | script.Step
) -> None:
    scripted.chat(failure)
    scripted.chat(failure)
    scripted.say("At last.")
    assert text_of(await ask(model)) == "At last."
    assert len(scripted.chats) == 3
    assert scripted.chats[0].body == scripted.chats[2].body


async def test_after_the_last_retry_the_failure_is_told(scripted: ScriptedServer, model: ChatModel) -> None:
    scripted.fail(times=3)
    with pytest.raises(ModelUnavailable, match=r"failed \(500\).*It said: the script says no"):
        await ask(model)
    assert len(scripted.chats) == 3


@pytest.mark.parametrize(
    "failure",
    [script.Cut(), script.Fail(500), script.Raw("{no json"), script.Finish("")],
    ids=["cut", "error event", "malformed event", "no finish reason"],
)
async def test_a_failure_in_mid_answer_is_told_and_not_tried_again(
    scripted: ScriptedServer, model: ChatModel, failure: script.Step
) -> None:
    scripted.chat(Script("Half an", failure))
    deltas: list[Delta] = []
    with pytest.raises(ModelUnavailable, match=r"\.$|script says no"):
        await collect(model, deltas)
    assert deltas == [TextDelta("Half"), TextDelta(" an")]
    assert len(scripted.chats) == 1


async def test_reasoning_that_was_cut_off_is_kept(scripted: ScriptedServer, model: ChatModel) -> None:
    scripted.chat(Script(script.Reasoning("I was about to"), script.Cut()))
    deltas: list[Delta] = []
    with pytest.raises(ModelUnavailable, match="connection"):
        await collect(model, deltas)
    assert deltas == [ReasoningDelta("I was about to")]
    assert len(scripted.chats) == 1


@pytest.mark.parametrize(
    ("hanging", "said"),
    [(Script(script.Hang()), ""), (Script("", script.Hang()), ""), (Script("Well,", script.Hang()), "Well,")],
    ids=["no headers", "no token", "mid-answer"],
)
async def test_a_server_that_hangs_is_left_and_not_asked_again(
    scripted: ScriptedServer, hanging: Script, said: str
) -> None:
    scripted.chat(hanging)
    patience = Patience(first_token=0.3, idle=0.3, back_off=0.001)
    deltas: list[Delta] = []
    async with ChatModel(scripted.url, scripted.model, patience=patience) as model:
        with pytest.raises(ModelUnavailable, match="took too long"):
            await collect(model, deltas)
        assert await scripted.chats[0].ended() == "left"
    assert text_of(deltas) == said
    assert len(scripted.chats) == 1


async def test_a_server_that_asks_for_a_long_wait_is_not_waited_for(
    scripted: ScriptedServer, model: ChatModel
) -> None:
    scripted.chat(script.Fail(429, "quota", retry_after=3600))
    with pytest.raises(ModelUnavailable, match=r"busy or its quota is used up.*quota"):
        await ask(model)
    assert len(scripted.chats) == 1


async def test_a_refused_connection_names_the_variable() -> None:
    with ScriptedServer() as gone:
        url = gone.url
    async with ChatModel(url, "m", patience=Patience(retries=1, back_off=0.001)) as model:
        with pytest.raises(ModelUnavailable, match=r"No model server answers at .*set ALICIA_LLM_URL"):
            await ask(model)


async def test_a_wrong_key_names_the_variable(scripted: ScriptedServer) -> None:
    scripted.api_key = "right"
    async with ChatModel(scripted.url, "m", "wrong", variables="ALICIA_EMBEDDING") as model:
        with pytest.raises(ModelUnavailable, match=r"refused the key: set ALICIA_EMBEDDING_API_KEY\."):
            await ask(model)
    assert len(scripted.chats) == 1


async def test_no_failure_tells_the_key_or_a_password(scripted: ScriptedServer) -> None:
    key = "sk-very-secret"
    scripted.chat(script.Fail(401, f"Incorrect API key provided: {key}."))
    url = scripted.url.replace("://", "://somebody:hunter2@")
    async with ChatModel(url, "m", key) as model:
        with pytest.raises(ModelUnavailable, match="Incorrect API key provided: …") as refused:
            await ask(model)
    async with ChatModel("http://somebody:hunter2@127.0.0.1:9/v1", "m", key, patience=QUICK) as model:
        with pytest.raises(ModelUnavailable, match="No model server answers") as unheard:
            await ask(model)
    for error in (refused, unheard):
        assert key not in str(error.value)
        assert "hunter2" not in str(error.value)


async def test_an_unknown_model_names_the_variable(scripted: ScriptedServer, model: ChatModel) -> None:
    scripted.chat(script.Fail(404, "model not found"))
    with pytest.raises(ModelUnavailable, match="has no model 'scripted': set ALICIA_LLM_MODEL"):
        await ask(model)


async def test_closing_the_stream_closes_the_connection(scripted: ScriptedServer, model: ChatModel) -> None:
    held = scripted.hold("One two three")
    held.release()
    async with contextlib.aclosing(model.stream(HELLO)) as deltas:
        assert await anext(deltas) == TextDelta("One")
    assert await scripted.chats[0].ended() == "left"


async def test_cancelling_the_listener_closes_the_connection(
    scripted: ScriptedServer, model: ChatModel
) -> None:
    held = scripted.hold("One two three")
    held.release()
    listening = asyncio.create_task(ask(model))
    await held.sent(1)
    listening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listening
    assert await scripted.chats[0].ended() == "left"


async def test_cancelling_before_the_headers_closes_the_connection(
    scripted: ScriptedServer, model: ChatModel
) -> None:
    scripted.chat(script.Hang())
    listening = asyncio.create_task(ask(model))
    request = await scripted.arrived()
    listening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listening
    assert await request.ended() == "left"


async def test_an_answer_that_ended_leaves_its_connection_to_the_next(
    scripted: ScriptedServer, model: ChatModel
) -> None:
    for _ in range(3):
        await ask(model)
    assert scripted.connections == 1


async def test_many_answers_at_once_do_not_mix(scripted: ScriptedServer, model: ChatModel) -> None:
    async def one(number: int) -> str:
        return await model.text([Message("user", f"number {number}")])

    assert await asyncio.gather(*map(one, range(20))) == [f"You said: number {n}" for n in range(20)]
