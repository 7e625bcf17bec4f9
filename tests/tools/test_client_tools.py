"""Tools of devices: announced, run by the device that was asked, and gone when it goes."""

import asyncio
from typing import Any

import msgspec
import pytest

from alicia import ids
from alicia.ids import ToolUseId
from alicia.llm.messages import ToolCall
from alicia.tools.client import ClientEnding, ClientRequest, ClientTools
from alicia.tools.outcome import ToolOutcome, failed, succeeded

LIGHT: dict[str, Any] = {
    "name": "switch_light",
    "description": "Switches a light.",
    "schema": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]},
}
ON = ToolCall("1", "switch_light", '{"on": true}')


def asked(tools: ClientTools, device: str = "phone") -> ToolUseId:
    request = tools.request(ON, prefer=device)
    assert request == ClientRequest(device=device, arguments={"on": True}, seconds=60.0)
    use_id = ids.new(ToolUseId)
    tools.expect(use_id, device)
    return use_id


@pytest.fixture
def tools() -> ClientTools:
    made = ClientTools()
    made.announce("phone", [LIGHT])
    return made


async def test_the_device_that_was_asked_answers(tools: ClientTools) -> None:
    use_id = asked(tools)
    waiting = asyncio.create_task(tools.ending(use_id, 60))
    assert tools.answer("phone", use_id, succeeded({"done": True}))
    assert await waiting == ClientEnding(succeeded({"done": True}), told=True)


async def test_an_answer_of_another_device_a_late_one_and_a_second_one_are_refused(
    tools: ClientTools,
) -> None:
    use_id = asked(tools)
    assert not tools.answer("laptop", use_id, succeeded(1))
    assert tools.answer("phone", use_id, succeeded(2))
    assert not tools.answer("phone", use_id, succeeded(3))
    assert (await tools.ending(use_id, 60)).outcome.result == 2
    assert not tools.answer("phone", use_id, succeeded(4))


async def test_a_device_that_leaves_has_failed(tools: ClientTools) -> None:
    use_id = asked(tools)
    tools.leave("phone")
    outcome = (await tools.ending(use_id, 60)).outcome
    assert (outcome.status, outcome.error_code) == ("error", 303)
    assert tools.available() == []
    gone = tools.request(ON)
    assert isinstance(gone, ToolOutcome)
    assert gone.error_code == 301


async def test_a_device_that_does_not_answer_times_out(tools: ClientTools) -> None:
    use_id = asked(tools)
    outcome = (await tools.ending(use_id, 0.01)).outcome
    assert (outcome.status, outcome.error_code) == ("error", 304)
    assert not tools.answer("phone", use_id, succeeded(1))


async def test_a_wait_that_is_cancelled_takes_no_answer_any_more(tools: ClientTools) -> None:
    use_id = asked(tools)
    waiting = asyncio.create_task(tools.ending(use_id, 60))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not tools.answer("phone", use_id, succeeded(1))


async def test_a_stop_ends_the_wait_unless_the_device_was_faster(tools: ClientTools) -> None:
    late, early = asked(tools), asked(tools)
    assert tools.answer("phone", early, succeeded(1))
    for use_id in (late, early):
        tools.stop(use_id)
    assert not tools.answer("phone", late, succeeded(2))
    assert (await tools.ending(late, 60)).outcome.status == "cancelled"
    assert await tools.ending(early, 60) == ClientEnding(succeeded(1), told=True)


async def test_a_device_may_say_that_it_failed(tools: ClientTools) -> None:
    use_id = asked(tools)
    assert tools.answer("phone", use_id, failed(303, "The lamp is broken."))
    assert (await tools.ending(use_id, 60)).outcome.error_message == "The lamp is broken."


def test_wrong_arguments_are_not_sent_to_a_device(tools: ClientTools) -> None:
    refused = tools.request(msgspec.structs.replace(ON, arguments='{"on": "yes"}'))
    assert isinstance(refused, ToolOutcome)
    assert refused.error_code == 302


def test_the_device_that_is_preferred_is_asked_if_it_can(tools: ClientTools) -> None:
    tools.announce("laptop", [LIGHT])
    tools.announce("watch", [])
    for prefer, device in (("laptop", "laptop"), ("phone", "phone"), ("watch", "phone"), (None, "phone")):
        request = tools.request(ON, prefer=prefer)
        assert isinstance(request, ClientRequest)
        assert request.device == device


def test_a_new_announcement_replaces_the_old_one(tools: ClientTools) -> None:
    tools.announce("phone", [{**LIGHT, "name": "ring"}])
    assert [tool.name for tool in tools.available()] == ["ring"]
    assert tools.available(taken={"ring"}) == []


@pytest.mark.parametrize(
    "tool",
    [
        {},
        {"name": 5},
        {"name": "two words"},
        {"name": "x" * 65},
        {"name": "a", "schema": []},
        {"name": "a", "schema": {"type": "nonsense"}},
        {"name": "a", "schema": {"type": "string"}},
    ],
)
def test_an_announcement_that_makes_no_sense_is_ignored_and_the_others_stay(tool: dict[str, Any]) -> None:
    tools = ClientTools()
    tools.announce("phone", [tool, LIGHT, {"name": "bare", "timeoutMs": 5_000}])
    assert [known.name for known in tools.available()] == ["bare", "switch_light"]
    bare = tools.request(ToolCall("1", "bare", "{}"))
    assert isinstance(bare, ClientRequest)
    assert bare.seconds == 5.0
