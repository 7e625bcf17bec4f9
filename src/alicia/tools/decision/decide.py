"""Whether to answer or to call a tool, for models that cannot tell by themselves."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec
import structlog

from alicia.errors import ModelUnavailable
from alicia.llm.messages import Delta, Message, Tool, ToolCall
from alicia.tools.decision.choice import NONE, choice_prompt, choice_schema
from alicia.tools.decision.gate import candidates
from alicia.tools.definition import Hint

log = structlog.stdlib.get_logger(__name__)

MOST_TOKENS: Final = 512
SHORT: Final = 8
"""Words up to which a message may be a mere follow-up, to be read together with what came before."""
_CONTEXT: Final = 2
_LONGEST_CONTEXT: Final = 500


class Model(Protocol):
    """What this package asks of a language model; `alicia.llm.chat.ChatModel` is one."""

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int | None = None,
        tools: Sequence[Tool] = (),
        schema: dict[str, Any] | None = None,
    ) -> AsyncGenerator[Delta, None]:
        """Answer piece by piece."""
        ...

    async def complete(
        self, messages: Sequence[Message], *, schema: dict[str, Any], max_tokens: int | None = None
    ) -> Any:
        """Answer in JSON that fits the schema."""
        ...


class Decider:
    """Chooses a tool with one short question to the model, and with none when no tool could help.

    Nothing of it is seen on the wire: what follows is a tool use, or an answer, as with any other model.
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    async def decide(
        self,
        message: str,
        earlier: Sequence[Message],
        tools: Sequence[Tool],
        hints: Mapping[str, Hint],
        *,
        used: Sequence[ToolCall] = (),
    ) -> ToolCall | None:
        """The tool to call before `message` is answered, or None: answer now.

        `message` is the user's own text, `earlier` what was said before it. Pass as `used` what was called
        for this answer already: no tool is called twice, so this ends. A model that is not to be reached, or
        does not keep to the schema, gives None; whether it can answer at all will show by itself.
        """
        context = _context(message, earlier)
        done = {call.name for call in used}
        text = "\n".join([*(one.content for one in context if one.role == "user"), message])
        possible = [tool for tool in candidates(tools, hints, text) if tool.name not in done]
        if not possible:
            return None
        prompt = choice_prompt(message, context, possible, hints)
        try:
            choice = await self._model.complete(
                prompt, schema=choice_schema(possible), max_tokens=MOST_TOKENS
            )
        except ModelUnavailable as error:
            log.warning("no decision about tools", reason=error.reason)
            return None
        if choice["tool"] == NONE:
            return None
        arguments = msgspec.json.encode(choice["arguments"]).decode()
        return ToolCall(f"call_{len(used) + 1}", choice["tool"], arguments)


def _context(message: str, earlier: Sequence[Message]) -> list[Message]:
    """The exchange before a short message, cut; a longer message speaks for itself."""
    if len(message.split()) > SHORT:
        return []
    said = [one for one in earlier if one.role in ("user", "assistant") and one.content]
    return [Message(one.role, one.content[:_LONGEST_CONTEXT]) for one in said[-_CONTEXT:]]
