"""Tools that run on a user's device: asked of one device, answered once, and gone with it."""

import asyncio
from typing import Any

import pytest
from livekit import rtc

from alicia.client import ClientTool, Conversation
from alicia.client.link import Link
from alicia.protocol.envelope import decode_packet
from alicia.protocol.messages import ErrorMessage, ToolUseRequest, ToolUseResult
from alicia.storage.pool import Pool
from support.programs import program
from support.scripted import Script, ToolCall
from support.stack import Stack
from support.tables import records

pytestmark = pytest.mark.timeout(120)

TOUCH = ToolCall("touch", {"what": "the lamp"})


class Lamp:
    """A tool whose every run is noted and ends when the test says so."""

    def __init__(self, result: object = "warm") -> None:
        self.runs: list[str] = []
        self.begun = asyncio.Event()
        self.end = asyncio.Event()
        self.result = result

    async def touch(self, what: str) -> object:
        """Touch something."""
        self.runs.append(what)
        self.begun.set()
        await self.end.wait()
        return self.result

    def tool(self, timeout: float = 60.0) -> ClientTool:
        return ClientTool.of(self.touch, timeout=timeout)


def script(stack: Stack, *calls: ToolCall) -> None:
    stack.model.chat(Script(*calls), when="Touch")
    stack.model.say("That is all.", when="Touch")


async def uses(pool: Pool, conversation: Conversation) -> list[tuple[str, Any]]:
    """The rows, after a check that each request on the wire has exactly one result."""
    bodies = [envelope.body for envelope in conversation.log]
    asked = [body.id for body in bodies if isinstance(body, ToolUseRequest)]
    ended = [body.request_id for body in bodies if isinstance(body, ToolUseResult)]
    assert sorted(asked) == sorted(ended)
    found = await records(
        pool,
        """
        SELECT status, tool_result
          FROM alicia_tool_uses
         WHERE conversation_id = %s
         ORDER BY created_at, sequence_number
        """,
        conversation.id,
    )
    assert len(found) == len(asked)
    return [(row["status"], row["tool_result"]) for row in found]


async def heard(conversation: Conversation, kind: type[Any]) -> Any:
    """Wait for a body of this type in the log."""
    while not (found := [one.body for one in conversation.log if isinstance(one.body, kind)]):
        await anext(conversation.events())
    return found[0]


async def test_the_device_that_asked_runs_its_own_tool(stack: Stack, user: str, pool: Pool) -> None:
    script(stack, TOUCH)
    phone, laptop = Lamp("hot"), Lamp("cold")
    phone.end.set()
    laptop.end.set()
    async with (
        program(stack, user, device="phone", tools=[phone.tool()]) as first,
        program(stack, user, first.id, device="laptop", tools=[laptop.tool()]) as second,
    ):
        assert await second.ask("Touch the lamp") == "That is all."
        request = await heard(first, ToolUseRequest)
        assert (request.execution, request.device, request.timeout_ms) == ("client", "laptop", 60_000)
        assert (phone.runs, laptop.runs) == ([], ["the lamp"])
        assert await uses(pool, second) == [("success", "cold")]
        *_, newest = (chat for chat in stack.model.chats if "tools" in chat.json)
        told = newest.messages[-1]
        assert (told["role"], told["content"]) == ("tool", "<data>cold</data>")
        offered = [tool["function"]["name"] for tool in newest.json["tools"]]
        assert offered.count("touch") == 1


async def test_a_result_of_another_device_is_refused(stack: Stack, user: str, pool: Pool) -> None:
    script(stack, TOUCH)
    lamp = Lamp()
    async with (
        program(stack, user, device="phone", tools=[lamp.tool()]) as asked,
        program(stack, user, asked.id, device="laptop") as other,
    ):
        answer = asked.ask("Touch the lamp")
        await lamp.begun.wait()
        request = await heard(other, ToolUseRequest)
        forged = ToolUseResult(
            conversation_id=request.conversation_id, request_id=request.id, success=True, result="forged"
        )
        await other.send(forged)
        async for event in other.events():
            if isinstance(event, ErrorMessage):
                assert (event.code, event.originating_id) == (202, request.id)
                break
        lamp.end.set()
        assert await answer == "That is all."
        assert await uses(pool, asked) == [("success", "warm")]


async def test_a_result_may_say_that_the_tool_failed(stack: Stack, user: str, pool: Pool) -> None:
    def touch(what: str) -> None:
        """Touch something."""
        raise OSError(f"{what} is too hot")

    script(stack, TOUCH)
    async with program(stack, user, tools=[touch]) as alone:
        await alone.ask("Touch the lamp")
        result = await heard(alone, ToolUseResult)
        assert (result.error_code, result.error_message) == (303, "OSError: the lamp is too hot")
        assert await uses(pool, alone) == [("error", None)]


async def test_a_large_result_of_a_device_is_cut_on_the_wire_and_whole_in_the_database(
    stack: Stack, user: str, pool: Pool
) -> None:
    script(stack, TOUCH)
    lamp = Lamp("x" * 300_000)
    lamp.end.set()
    async with program(stack, user, tools=[lamp.tool()]) as alone:
        await alone.ask("Touch the lamp")
        result = await heard(alone, ToolUseResult)
        assert result.truncated
        assert len(result.result) < 60_000
        assert await uses(pool, alone) == [("success", "x" * 300_000)]
        await alone.flush()


async def test_wrong_arguments_never_reach_a_device(stack: Stack, user: str, pool: Pool) -> None:
    script(stack, ToolCall("touch", {"what": 7}))
    lamp = Lamp()
    async with program(stack, user, tools=[lamp.tool()]) as alone:
        await alone.ask("Touch the lamp")
        assert (await heard(alone, ToolUseResult)).error_code == 302
        assert lamp.runs == []
        assert await uses(pool, alone) == [("error", None)]


async def test_a_device_that_does_not_answer_in_time_is_stopped_and_refused(
    stack: Stack, user: str, pool: Pool
) -> None:
    script(stack, TOUCH)
    lamp = Lamp()
    async with program(stack, user, tools=[lamp.tool(timeout=0.5)]) as alone:
        assert await alone.ask("Touch the lamp") == "That is all."
        assert (await heard(alone, ToolUseResult)).error_code == 304
        assert await uses(pool, alone) == [("error", None)]


async def test_a_device_that_leaves_has_failed_and_does_not_run_it_again_when_it_is_back(
    stack: Stack, user: str, pool: Pool
) -> None:
    script(stack, TOUCH)
    lamp, again = Lamp(), Lamp()
    async with program(stack, user, device="laptop") as staying:
        async with program(stack, user, staying.id, device="phone", tools=[lamp.tool()]):
            answer = staying.ask("Touch the lamp")
            await lamp.begun.wait()
        assert await answer == "That is all."
        result = await heard(staying, ToolUseResult)
        assert (result.error_code, result.error_message) == (303, "The device left before it answered.")
        async with program(stack, user, staying.id, device="phone", tools=[again.tool()]) as back:
            assert await heard(back, ToolUseRequest)
            await staying.ask("Still there?")
            await heard(back, ToolUseResult)
            assert again.runs == []
        assert await uses(pool, staying) == [("error", None)]


async def test_a_request_that_was_lost_on_its_way_is_run_when_it_is_replayed(
    stack: Stack, user: str, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(stack, TOUCH)
    lamp = Lamp()
    lamp.end.set()
    deliver, lost = Link._data, asyncio.Event()  # pyright: ignore[reportPrivateUsage]

    def lose(link: Link, packet: rtc.DataPacket) -> None:
        """The first packet with a request never arrives."""
        if not lost.is_set() and _holds_request(packet.data):
            lost.set()
        else:
            deliver(link, packet)

    monkeypatch.setattr(Link, "_data", lose)
    async with program(stack, user, tools=[lamp.tool()]) as alone:
        assert await alone.ask("Touch the lamp") == "That is all."
        assert lost.is_set()
        assert lamp.runs == ["the lamp"]
        assert await uses(pool, alone) == [("success", "warm")]


def _holds_request(packet: bytes) -> bool:
    return any(isinstance(getattr(one, "body", None), ToolUseRequest) for one in decode_packet(packet))


async def test_a_stop_cancels_what_a_device_is_doing(stack: Stack, user: str, pool: Pool) -> None:
    script(stack, TOUCH)
    lamp = Lamp()
    async with program(stack, user, tools=[lamp.tool()]) as alone:
        answer = alone.ask("Touch the lamp")
        await lamp.begun.wait()
        await answer.stop()
        assert await answer == ""
        assert answer.status == "stopped"
        assert await uses(pool, alone) == [("cancelled", None)]
        assert await alone.ask("Well?")


async def test_a_tool_that_nobody_has_any_more_is_unknown(stack: Stack, user: str, pool: Pool) -> None:
    script(stack, TOUCH)
    async with program(stack, user) as alone:
        await alone.ask("Touch the lamp")
        assert (await heard(alone, ToolUseResult)).error_code == 301
        assert await uses(pool, alone) == [("error", None)]


async def test_what_a_device_does_for_an_agent_that_is_killed_counts_as_cancelled(
    own_stack: Stack, user: str, pool: Pool
) -> None:
    own_stack.model.chat(Script(TOUCH), when="Touch")
    own_stack.model.say("That is all.", always=True)
    lamp = Lamp()
    async with program(own_stack, user, tools=[lamp.tool()]) as alone:
        answer = alone.ask("Touch the lamp")
        await lamp.begun.wait()
        own_stack.replace_agent()
        assert await answer == "That is all."
        lamp.end.set()
        await alone.ask("And now?")
        assert lamp.runs == ["the lamp"]
        assert await uses(pool, alone) == [("cancelled", None)]
