"""Functions of a program as tools: announced, run on the device that is named, once."""

import asyncio
from typing import Literal

import pytest

from alicia import ids
from alicia.client import AliciaError, ClientTool
from alicia.client.events import Hub
from alicia.client.tools import ToolRunner
from alicia.protocol.messages import ToolUseRequest, ToolUseResult

CONVERSATION = ids.new(ids.ConversationId)


def switch_light(room: str, on: bool = True, colour: Literal["white", "red"] = "white") -> dict[str, object]:
    """Switch a light on or off."""
    return {"room": room, "on": on, "colour": colour}


async def fail() -> None:
    """Never works."""
    raise RuntimeError("the bulb is broken")


class Desk:
    """A device's tools, without a connection."""

    def __init__(self, *tools: object) -> None:
        self.hub = Hub()
        self.caught_up = asyncio.Event()
        self.sent: asyncio.Queue[ToolUseResult] = asyncio.Queue()
        self.runner = ToolRunner(
            tools,  # pyright: ignore[reportArgumentType]
            self.hub,
            device="phone",
            caught_up=self.caught_up,
            send=self.sent.put_nowait,
        )

    def request(self, tool: str, device: str = "phone", **parameters: object) -> ToolUseRequest:
        request = ToolUseRequest(
            conversation_id=CONVERSATION,
            id=ids.new(ids.ToolUseId),
            message_id=ids.new(ids.MessageId),
            sequence=1,
            tool_name=tool,
            parameters=parameters,
            execution="client",
            device=device,
        )
        self.hub.publish(request)
        return request


def ended(request: ToolUseRequest) -> ToolUseResult:
    return ToolUseResult(conversation_id=CONVERSATION, request_id=request.id, success=True)


def test_a_function_is_announced_by_its_name_its_docstring_and_its_annotations() -> None:
    (told,) = Desk(ClientTool.of(switch_light, timeout=2.5)).runner.announced
    assert told == {
        "name": "switch_light",
        "description": "Switch a light on or off.",
        "timeoutMs": 2500,
        "schema": {
            "type": "object",
            "properties": {
                "room": {"type": "string"},
                "on": {"type": "boolean", "default": True},
                "colour": {"enum": ["red", "white"], "default": "white"},
            },
            "required": ["room"],
            "additionalProperties": False,
        },
    }


def test_a_function_whose_arguments_have_no_names_is_no_tool() -> None:
    def join(*words: str) -> str:
        return " ".join(words)

    with pytest.raises(AliciaError, match="can't be given by name"):
        ClientTool.of(join)


async def test_a_request_for_this_device_is_run_and_one_for_another_is_not() -> None:
    desk = Desk(switch_light)
    desk.caught_up.set()
    desk.request("switch_light", device="laptop", room="cellar")
    mine = desk.request("switch_light", room="attic", on=False)
    result = await desk.sent.get()
    assert (result.request_id, result.success) == (mine.id, True)
    assert result.result == {"room": "attic", "on": False, "colour": "white"}
    assert desk.sent.empty()


async def test_what_a_function_raises_is_the_tools_error() -> None:
    desk = Desk(fail)
    desk.caught_up.set()
    desk.request("fail")
    result = await desk.sent.get()
    assert (result.success, result.error_code) == (False, 303)
    assert result.error_message == "RuntimeError: the bulb is broken"


async def test_a_request_that_is_replayed_runs_only_if_no_result_follows() -> None:
    runs: list[str] = []

    async def note(word: str) -> None:
        runs.append(word)

    desk = Desk(note)
    over = desk.request("note", word="over")
    still_open = desk.request("note", word="open")
    desk.hub.publish(ended(over))
    desk.caught_up.set()
    assert (await desk.sent.get()).request_id == still_open.id
    desk.hub.publish(still_open)
    desk.request("note", word="next")
    await desk.sent.get()
    assert runs == ["open", "next"]


async def test_a_tool_is_stopped_when_the_agent_goes_on_without_it() -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        begun.set()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            stopped.set()

    desk = Desk(wait)
    desk.caught_up.set()
    request = desk.request("wait")
    await begun.wait()
    desk.hub.publish(ended(request))
    await stopped.wait()
    await desk.runner.aclose()
    assert desk.sent.empty()
