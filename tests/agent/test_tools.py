"""Tools in answers, over real LiveKit and PostgreSQL, with real MCP servers: one a child, one behind HTTP."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from alicia import ids
from alicia.protocol.messages import (
    AssistantSentence,
    ControlStop,
    MemoryTrace,
    StartAnswer,
    ToolUseRequest,
    ToolUseResult,
    UserMessage,
)
from alicia.storage.pool import Pool
from support.device import Device, device
from support.mcp_servers import http, stdio, write_config
from support.scripted import Script, Text, ToolCall
from support.servers import LiveKitServer
from support.stack import Stack
from support.tables import journal, records, rows, unfinished
from support.up import eventually

pytestmark = [pytest.mark.timeout(180), pytest.mark.xdist_group("tools")]

SHORT = 1.0
"""What a call of the server `brief` may take."""


@pytest.fixture(scope="module")
def tool_stack(
    tmp_path_factory: pytest.TempPathFactory, database_url: str, livekit: LiveKitServer
) -> Iterator[Stack]:
    """An API and an agent with three MCP servers."""
    home = tmp_path_factory.mktemp("tools")
    with http("far") as far:
        config = write_config(home / "mcp.json", stdio("near"), stdio("brief", timeout=SHORT), far.config)
        with Stack(home, database_url, livekit, settings={"ALICIA_MCP_CONFIG": str(config)}) as opened:
            wait_for_servers(opened, 3)
            yield opened


def wait_for_servers(stack: Stack, count: int) -> None:
    eventually(lambda: stack.agent.log.read_text().count("MCP server up") >= count, "the MCP servers are up")


@pytest.fixture
def tools(tool_stack: Stack) -> Stack:
    tool_stack.model.reset()
    return tool_stack


async def use(stack: Stack, each: Device, *calls: ToolCall, then: str = "That is all.") -> str:
    """Ask for something that makes the model call these; the answer's id."""
    word = f"do-{ids.new(ids.MessageId)[3:]}"
    stack.model.chat(Script(*calls), when=word)
    stack.model.say(then, when=word)
    return await each.ask(word)


def results(each: Device) -> list[ToolUseResult]:
    return each.all(ToolUseResult)


def told(stack: Stack) -> list[str]:
    """What the model was told of its tools in the newest prompt that tells of any."""
    prompts = [
        [message["content"] for message in chat.messages if message["role"] == "tool"]
        for chat in stack.model.chats
    ]
    return [prompt for prompt in prompts if prompt][-1]


async def check(each: Device, pool: Pool) -> list[dict[str, Any]]:
    """Every request has its one result, on the wire as in the rows; what the rows say."""
    requests = each.all(ToolUseRequest)
    assert sorted(result.request_id for result in results(each)) == sorted(one.id for one in requests)
    assert each.log == await journal(pool, each.id)
    assert await unfinished(pool, each.id) == []
    uses = await records(
        pool,
        """
        SELECT id, tool_name, tool_arguments, tool_result, status, error_message, completed_at
          FROM alicia_tool_uses
         WHERE conversation_id = %s
         ORDER BY created_at, sequence_number
        """,
        each.id,
    )
    assert [row["id"] for row in uses] == [request.id for request in requests]
    for row in uses:
        (result,) = [one for one in results(each) if one.request_id == row["id"]]
        assert row["completed_at"] is not None
        assert row["status"] == "success" if result.success else row["status"] in ("error", "cancelled")
        assert row["error_message"] == result.error_message
    return uses


@pytest.mark.parametrize("server", ["near", "far"])
async def test_a_tool_is_asked_for_run_told_and_answered_with(
    tools: Stack, user: str, pool: Pool, server: str
) -> None:
    async with device(tools, user) as alone:
        await use(tools, alone, ToolCall(f"{server}__add", {"a": 20, "b": 22}), then="It is 42.")
        assert [type(body) for body in alone.bodies] == [
            UserMessage,
            StartAnswer,
            ToolUseRequest,
            ToolUseResult,
            AssistantSentence,
        ]
        (request,), (result,) = alone.all(ToolUseRequest), results(alone)
        assert (request.tool_name, request.parameters) == (f"{server}__add", {"a": 20, "b": 22})
        assert (request.execution, request.device, request.sequence) == ("server", None, 1)
        assert (result.success, result.result, result.truncated) == (True, {"result": 42}, None)
        assert told(tools) == ['<data>{"result":42}</data>']
        (row,) = await check(alone, pool)
        assert (row["status"], row["tool_result"]) == ("success", {"result": 42})


@pytest.mark.parametrize(
    ("call", "code", "complaint"),
    [
        (ToolCall("near__fail"), 303, "the tool says no"),
        (ToolCall("far__fail"), 303, "the tool says no"),
        (ToolCall("near__add", {"a": "one", "b": 2}), 302, "Wrong argument `a`"),
        (ToolCall("far__add", "{not json"), 302, "not a JSON object"),
        (ToolCall("fly_to_the_moon"), 301, "There is no tool 'fly_to_the_moon'"),
        (ToolCall("brief__hang", {"token": "late"}), 304, "did not answer within 1 seconds"),
        (ToolCall("near__die"), 303, "stopped in the middle of the call"),
    ],
    ids=["error", "error-far", "arguments", "no-json", "unknown", "time-out", "dies"],
)
async def test_a_tool_that_does_not_work_is_an_error_with_which_the_answer_goes_on(
    tools: Stack, user: str, pool: Pool, call: ToolCall, code: int, complaint: str
) -> None:
    async with device(tools, user) as alone:
        answer_id = await use(tools, alone, call, then="It did not work.")
        (result,) = results(alone)
        assert (result.success, result.result, result.error_code) == (False, None, code)
        assert complaint in (result.error_message or "")
        assert complaint in json.loads(told(tools)[0].removeprefix("<data>").removesuffix("</data>"))["error"]
        assert (await alone.closed(answer_id)).status == "completed"
        (row,) = await check(alone, pool)
        assert row["status"] == "error"
        if call.name == "near__die":
            await works_again(tools, alone)


async def works_again(stack: Stack, each: Device) -> None:
    """A server that died is started again by itself."""
    while True:
        await use(stack, each, ToolCall("near__process_id"))
        if results(each)[-1].success:
            return


async def test_five_megabytes_are_cut_on_the_wire_and_whole_in_the_database(
    tools: Stack, user: str, pool: Pool
) -> None:
    async with device(tools, user) as alone:
        await use(tools, alone, ToolCall("far__large", {"size": 5_000_000}))
        (result,) = results(alone)
        assert result.truncated
        assert max(map(len, alone.log)) < 60_000
        assert len(told(tools)[0]) < 50_000
        (row,) = await check(alone, pool)
        assert row["tool_result"] == {"result": "x" * 5_000_000}


async def test_ten_calls_run_side_by_side(tools: Stack, user: str, pool: Pool) -> None:
    async with device(tools, user) as alone:
        calls = [ToolCall("near__meet", {"count": 10}, id=f"c{number}") for number in range(10)]
        await use(tools, alone, *calls)
        assert [request.sequence for request in alone.all(ToolUseRequest)] == list(range(1, 11))
        assert [row["status"] for row in await check(alone, pool)] == ["success"] * 10
        assert told(tools) == ['<data>{"result":10}</data>'] * 10


async def test_a_stop_in_mid_call_cancels_the_tool_and_ends_the_answer(
    tools: Stack, user: str, pool: Pool
) -> None:
    async with device(tools, user) as alone:
        hanging = ToolCall("near__hang", {"token": user})
        tools.model.chat(Script(Text("Let me wait."), hanging), when="Wait!")
        await alone.say("Wait!")
        start = await alone.hears(StartAnswer)
        await alone.hears(ToolUseRequest)
        await named(tools, user, "begun")
        await alone.submit(ControlStop(conversation_id=alone.id, target_id=start.id, stop_type="generation"))
        assert (await alone.closed(start.id)).status == "stopped"
        (row,) = await check(alone, pool)
        assert row["status"] == "cancelled"
        # The server was told, too.
        await named(tools, user, "stopped")


async def named(stack: Stack, token: str, what: str) -> None:
    """Wait until the server has begun or stopped a call of `hang`, as it says itself to somebody else."""
    async with device(stack, f"{token}-watch") as watcher:
        while True:
            await use(stack, watcher, ToolCall(f"near__{what}_tokens"))
            if token in results(watcher)[-1].result["result"]:
                return


async def test_a_tool_may_be_used_again_and_again_but_not_for_ever(
    tools: Stack, user: str, pool: Pool
) -> None:
    tools.model.chat(Script(ToolCall("near__add", {"a": 1, "b": 1})), when="Go on and on", always=True)
    async with device(tools, user) as alone:
        answer_id = await alone.ask("Go on and on")
        assert (await alone.closed(answer_id)).status == "completed"
        assert len(await check(alone, pool)) == 8
        *_, last = [chat for chat in tools.model.chats if "Go on and on" in chat.user_text]
        assert "tools" not in last.json
        assert '[near__add({"a": 1, "b": 1}) gave: <data>{"result":2}</data>]' in last.user_text


async def test_what_was_said_before_a_call_stays_apart_from_what_is_said_after_it(
    tools: Stack, user: str, pool: Pool
) -> None:
    async with device(tools, user) as alone:
        word = "add these"
        tools.model.chat(Script(Text("Let me see"), ToolCall("near__add", {"a": 1, "b": 1})), when=word)
        tools.model.say("It is two.", when=word)
        answer_id = await alone.ask(word)
        kinds = [type(body).__name__ for body in alone.bodies[2:]]
        assert kinds == ["AssistantSentence", "ToolUseRequest", "ToolUseResult", "AssistantSentence"]
        assert [sentence.text for sentence in alone.all(AssistantSentence)] == ["Let me see", " It is two."]
        asked = tools.model.chats[-1].messages
        assert [message["role"] for message in asked[-3:]] == ["user", "assistant", "tool"]
        assert asked[-2]["content"] == "Let me see"
        (contents,) = (await rows(pool, "SELECT contents FROM alicia_messages WHERE id = %s", answer_id))[0]
        assert contents == "Let me see It is two."


async def test_a_later_answer_knows_which_tools_were_used(tools: Stack, user: str) -> None:
    async with device(tools, user) as alone:
        await use(tools, alone, ToolCall("near__say", {"text": "a green door"}), then="I asked.")
        await alone.ask("And what did it say?")
        before, _ = [one["content"] for one in tools.model.chats[-1].messages if one["role"] == "user"]
        assert before.endswith(
            '[You used near__say({"text": "a green door"}): <data>{"result":"a green door"}</data>]'
        )


async def test_what_is_remembered_by_a_tool_is_traced_with_its_result(
    tools: Stack, user: str, pool: Pool
) -> None:
    async with device(tools, user) as alone:
        await use(tools, alone, ToolCall("remember", {"content": "The user has a parrot called Otto."}))
        kinds = [type(body).__name__ for body in alone.bodies[2:]]
        assert kinds == ["ToolUseRequest", "ToolUseResult", "MemoryTrace", "AssistantSentence"]
        (trace,) = alone.all(MemoryTrace)
        assert (trace.action, trace.content) == ("stored", "The user has a parrot called Otto.")
        kept = await rows(
            pool, "SELECT content, created_by FROM alicia_memory WHERE id = %s", trace.memory_id
        )
        assert kept == [("The user has a parrot called Otto.", user)]
        await use(tools, alone, ToolCall("forget", {"memory_id": trace.memory_id}))
        gone = alone.all(MemoryTrace)[-1]
        assert (gone.memory_id, gone.action) == (trace.memory_id, "updated")
        assert (gone.metadata or {})["reason"] == "forgotten"


async def test_a_worker_that_is_killed_in_mid_call_leaves_one_cancelled_use(
    tmp_path: Path, database_url: str, livekit: LiveKitServer, user: str, pool: Pool
) -> None:
    config = write_config(tmp_path / "mcp.json", stdio("near"))
    with Stack(tmp_path, database_url, livekit, settings={"ALICIA_MCP_CONFIG": str(config)}) as stack:
        wait_for_servers(stack, 1)
        async with device(stack, user) as waiting:
            calls = ToolCall("near__add", {"a": 1, "b": 2}), ToolCall("near__hang", {"token": "t"}, id="h")
            stack.model.chat(Script(*calls), when="Begin")
            await waiting.say("Begin")
            start = await waiting.hears(StartAnswer)
            await waiting.hears(ToolUseResult)
            stack.model.say("I was interrupted.", always=True)
            stack.replace_agent()
            assert (await waiting.closed(start.id, 60)).status == "completed"
            done, left = await check(waiting, pool)
            assert (done["status"], left["status"]) == ("success", "cancelled")
            assert len(results(waiting)) == 2
            finished, interrupted = told(stack)
            assert finished == '<data>{"result":3}</data>'
            assert "it may have done its work" in interrupted


async def test_a_model_that_cannot_call_tools_decides_first(
    tmp_path: Path, database_url: str, livekit: LiveKitServer, user: str, pool: Pool
) -> None:
    with Stack(tmp_path, database_url, livekit, settings={"ALICIA_LLM_TOOLS": "decide"}) as stack:
        async with device(stack, user) as alone:
            arguments = {"expression": "12 * 12"}
            stack.model.answer_json({"tool": "calculator", "arguments": arguments})
            stack.model.say("It is 144.", when="12 times 12")
            await alone.ask("What is 12 times 12?")
            (request,), (result,) = alone.all(ToolUseRequest), results(alone)
            assert (request.tool_name, request.parameters, result.success) == ("calculator", arguments, True)
            assert "144" in json.dumps(result.result)
            assert all("tools" not in chat.json for chat in stack.model.chats)
            assert '[calculator({"expression":"12 * 12"}) gave: <data>' in stack.model.chats[-1].user_text
            await check(alone, pool)
            # What no tool could help with is not even asked about.
            await alone.ask("Please tell me a story of a fox who lives in the forest.")
            assert sum("calculator" in json.dumps(asked.schema) for asked in stack.model.asked) == 1
