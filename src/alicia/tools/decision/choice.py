"""The choice between answering and calling a tool, as a schema that a model's server enforces."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import msgspec

from alicia.llm.messages import Message, Tool
from alicia.tools.definition import Hint

NONE: Final = "none"
_KEPT: Final = frozenset({"type", "properties", "required", "additionalProperties", "items", "enum", "const"})
_UNION: Final = frozenset({"anyOf", "oneOf"})
# No two servers that enforce schemas know the same words, and some refuse a schema for one they do not know.
# What is dropped here is checked before the tool runs.
_DROPPED_WORDS: Final = """
    $comment $id $schema default description examples exclusiveMaximum exclusiveMinimum format maxItems
    maxLength maxProperties maximum minItems minLength minProperties minimum multipleOf pattern title
    uniqueItems deprecated readOnly writeOnly
"""
_DROPPED: Final = frozenset(_DROPPED_WORDS.split())
_PLAIN_EXAMPLES: Final = (
    "How many players are in a football team?",
    "What do you like to do in your free time?",
    "When was Napoleon born?",
)
_INSTRUCTION: Final = (
    "You decide whether a tool is needed before the user's message can be answered. The tools:\n{tools}\n"
    "- none: no tool, for conversation, general knowledge, opinions and everything else.\nAnswer in JSON."
)


def choice_schema(tools: Sequence[Tool]) -> dict[str, Any]:
    """One of the tools with its arguments, or none."""
    options = [_option({"tool": {"const": NONE}})]
    options += [
        _option({"tool": {"const": tool.name}, "arguments": _slim(tool.parameters)}) for tool in tools
    ]
    return {"anyOf": options}


def choice_prompt(
    message: str, earlier: Sequence[Message], tools: Sequence[Tool], hints: Mapping[str, Hint]
) -> list[Message]:
    """What the model is asked: the same beginning for the same tools, so that it is computed once."""
    lines = "\n".join(f"- {tool.name}: {' '.join(tool.description.split())}" for tool in tools)
    prompt = [Message("system", _INSTRUCTION.format(tools=lines))]
    for question, choice in _examples(tools, hints):
        prompt += [Message("user", question), Message("assistant", _json(choice))]
    return [*prompt, Message("user", _with_context(message, earlier))]


def _examples(tools: Sequence[Tool], hints: Mapping[str, Hint]) -> list[tuple[str, dict[str, Any]]]:
    """Of each tool what it has, and between them messages that need none."""
    called = [
        (question, {"tool": tool.name, "arguments": arguments})
        for tool in tools
        for question, arguments in (hints[tool.name].examples if tool.name in hints else ())
    ]
    plain = [(question, {"tool": NONE}) for question in _PLAIN_EXAMPLES]
    mixed: list[tuple[str, dict[str, Any]]] = []
    for number in range(max(len(called), len(plain))):
        mixed += called[number : number + 1] + plain[number : number + 1]
    return mixed


def _with_context(message: str, earlier: Sequence[Message]) -> str:
    if not earlier:
        return message
    lines = "\n".join(f"{one.role}: {one.content}" for one in earlier)
    return f"Earlier:\n{lines}\n\nThe message: {message}"


def _option(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _slim(schema: dict[str, Any]) -> dict[str, Any]:
    """The parts of a schema that every server can enforce; any object where that would say something else."""
    try:
        return cast("dict[str, Any]", _slimmed(schema))
    except ValueError:
        return {"type": "object"}


def _slimmed(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    slim: dict[str, Any] = {}
    for key, value in cast("dict[str, Any]", schema).items():
        if key == "properties":
            slim[key] = {name: _slimmed(inner) for name, inner in value.items()}
        elif key in _UNION:
            slim[key] = [_slimmed(inner) for inner in value]
        elif key in _KEPT:
            slim[key] = _slimmed(value)
        elif key not in _DROPPED and not key.startswith("x-"):
            raise ValueError(key)
    return slim


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
