"""What goes to a language model and what comes back, a piece at a time."""

from typing import Any, Literal

import msgspec

Role = Literal["system", "user", "assistant", "tool"]


class ToolCall(msgspec.Struct, frozen=True):
    """The model asks for a tool; `arguments` is JSON as the model wrote it, so it may be invalid."""

    id: str
    name: str
    arguments: str


class Message(msgspec.Struct, frozen=True):
    """One message of a prompt.

    An assistant's message may hold `tool_calls`; a tool's answer names the call it belongs to.
    """

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


class Tool(msgspec.Struct, frozen=True):
    """A tool that the model may ask for; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any]


class TextDelta(msgspec.Struct, frozen=True):
    """The next piece of the answer."""

    text: str


class ReasoningDelta(msgspec.Struct, frozen=True):
    """One whole paragraph of the model's reasoning, which is never part of the answer."""

    text: str


class Finish(msgspec.Struct, frozen=True):
    """The end of an answer that was not cut off: always the last delta. Counts are None when not told."""

    reason: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None


Delta = TextDelta | ReasoningDelta | ToolCall | Finish


def wire_message(message: Message) -> dict[str, Any]:
    """The form that OpenAI-compatible servers take."""
    wire: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        wire["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        wire["tool_call_id"] = message.tool_call_id
    return wire


def wire_tool(tool: Tool) -> dict[str, Any]:
    """The form that OpenAI-compatible servers take."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}
