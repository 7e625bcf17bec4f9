"""Chat completions from a script, streaming and whole."""

import asyncio
import json
from typing import Any

from support.scripted.http import Reply, Request
from support.scripted.script import (
    Cut,
    Fail,
    Finish,
    Gate,
    Hang,
    Pause,
    Raw,
    Reasoning,
    Script,
    Step,
    Text,
    ToolCall,
    tokens,
)


async def control(step: Step, reply: Reply) -> bool:
    """Do what a step asks besides sending; answer whether that was all."""
    match step:
        case Pause(seconds):
            await asyncio.sleep(seconds)
        case Gate():
            await step.pass_through()
        case Cut():
            reply.cut()
        case Hang():
            await hang()
        case _:
            return False
    return True


async def hang() -> None:
    """Wait for ever: only the client's leaving, or the server's end, cancels this."""
    await asyncio.get_running_loop().create_future()


async def fail(step: Fail, reply: Reply) -> None:
    headers = {} if step.retry_after is None else {"retry-after": f"{step.retry_after:g}"}
    await reply.json(error(step), step.status, headers)


def error(step: Fail) -> dict[str, Any]:
    return {"error": {"message": step.message, "type": "scripted", "code": step.status}}


async def complete(request: Request, reply: Reply, script: Script) -> None:
    body = request.json
    if body.get("stream"):
        await _Stream(body, reply).run(script)
    else:
        await _whole(body, reply, script)


class _Stream:
    def __init__(self, body: dict[str, Any], reply: Reply) -> None:
        self._body = body
        self._reply = reply
        self._left: int | None = body.get("max_completion_tokens") or body.get("max_tokens")
        self._sent = 0
        self._calls = 0
        self._reason = "stop"

    async def run(self, script: Script) -> None:
        for step in script:
            if isinstance(step, Fail) and not self._reply.started:
                await fail(step, self._reply)
                return
            if await control(step, self._reply):
                continue
            await self._start()
            if not await self._emit(step):
                break
        await self._start()
        await self._finish()

    async def _start(self) -> None:
        if not self._reply.started:
            await self._reply.start(200, {"content-type": "text/event-stream", "cache-control": "no-cache"})
            await self._delta({"role": "assistant", "content": ""})

    async def _emit(self, step: Step) -> bool:
        match step:
            case Text(every=every) | Reasoning(every=every):
                key = "content" if isinstance(step, Text) else step.field
                for part in step.parts():
                    if self._left is not None and self._sent >= self._left:
                        self._reason = "length"
                        return False
                    if every:
                        await asyncio.sleep(every)
                    await self._delta({key: part})
                    self._sent += 1
            case ToolCall():
                await self._tool_call(step)
            case Raw(data):
                await self._event(data)
            case Finish(reason):
                self._reason = reason
            case Fail():
                await self._event(json.dumps(error(step)))
            case _:
                raise AssertionError(step)
        return True

    async def _tool_call(self, step: ToolCall) -> None:
        index, self._calls, self._reason = self._calls, self._calls + 1, "tool_calls"
        call = _call(step, index)
        arguments: str = call["function"]["arguments"]
        call["function"]["arguments"] = ""
        await self._delta({"tool_calls": [{"index": index, **call}]})
        for start in range(0, len(arguments), 7):
            piece = {"index": index, "function": {"arguments": arguments[start : start + 7]}}
            await self._delta({"tool_calls": [piece]})

    async def _finish(self) -> None:
        await self._event(json.dumps(self._chunk({}, self._reason)))
        options: dict[str, Any] = self._body.get("stream_options") or {}
        if options.get("include_usage"):
            chunk: dict[str, Any] = self._chunk({}, None)
            chunk |= {"choices": [], "usage": usage(self._body, self._sent)}
            await self._event(json.dumps(chunk))
        await self._event("[DONE]")
        await self._reply.end()

    async def _delta(self, delta: dict[str, Any]) -> None:
        await self._event(json.dumps(self._chunk(delta, None)))

    async def _event(self, data: str) -> None:
        await self._reply.data(f"data: {data}\n\n".encode())

    def _chunk(self, delta: dict[str, Any], reason: str | None) -> dict[str, Any]:
        return {
            "id": "chatcmpl-scripted",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": self._body.get("model", "scripted"),
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }


async def _whole(body: dict[str, Any], reply: Reply, script: Script) -> None:
    text = thoughts = ""
    calls: list[dict[str, Any]] = []
    reason = "stop"
    for step in script:
        match step:
            case Fail():
                await fail(step, reply)
                return
            case Text():
                text += "".join(step.parts())
            case Reasoning():
                thoughts += step.text
            case ToolCall():
                calls.append(_call(step, len(calls)))
                reason = "tool_calls"
            case Finish():
                reason = step.reason
            case _:
                await control(step, reply)
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if thoughts:
        message["reasoning_content"] = thoughts
    if calls:
        message["tool_calls"] = calls
    await reply.json(
        {
            "id": "chatcmpl-scripted",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model", "scripted"),
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": usage(body, len(tokens(text))),
        }
    )


def _call(step: ToolCall, index: int) -> dict[str, Any]:
    arguments = step.arguments if isinstance(step.arguments, str) else json.dumps(step.arguments)
    function = {"name": step.name, "arguments": arguments}
    return {"id": step.id or f"call_{index}", "type": "function", "function": function}


def usage(body: dict[str, Any], completion: int) -> dict[str, int]:
    prompt = sum(len(tokens(str(message.get("content")))) for message in body.get("messages", []))
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def instance(schema: dict[str, Any]) -> Any:
    """The plainest value that a JSON schema allows, for tests that do not care which."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return instance(schema[choice][0])
    kinds: Any = schema.get("type")
    kind: str = kinds if isinstance(kinds, str) else kinds[0] if kinds else ""
    match kind:
        case "object":
            required = schema.get("required", [])
            return {name: instance(schema.get("properties", {}).get(name, {})) for name in required}
        case "array":
            return [instance(schema.get("items", {}))] * schema.get("minItems", 0)
        case "string":
            return ""
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
        case _:
            return None
