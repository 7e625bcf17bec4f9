"""A model that calls tools: by itself where it can, else by a decision that comes before its answer."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing

import msgspec

from alicia.llm.messages import Delta, Finish, Message, Tool, ToolCall
from alicia.tools.decision.decide import Decider, Model
from alicia.tools.decision.native import ToolCalling
from alicia.tools.decision.plain import without_calls
from alicia.tools.definition import Hint


class Occasion(msgspec.Struct, frozen=True, kw_only=True):
    """What a decision is made from: the user's own text, what was said before it, what was called for it."""

    message: str
    earlier: Sequence[Message] = ()
    hints: Mapping[str, Hint] = {}
    used: Sequence[ToolCall] = ()


class CallingModel:
    """Gives the same deltas whether or not the model can call tools; shared by all conversations.

    `native` says whether it can; None finds out by asking it once.
    """

    def __init__(self, model: Model, native: bool | None = None) -> None:
        self._model = model
        self._calling = ToolCalling(model, native)
        self._decider = Decider(model)

    @property
    def takes_tools(self) -> bool:
        """Whether the model is known to be told of the tools with each prompt."""
        return self._calling.known is True

    async def native(self) -> bool:
        """Whether the model calls tools by itself; whoever asks first waits for its answer."""
        return await self._calling.native()

    async def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        occasion: Occasion,
        *,
        max_tokens: int | None = None,
    ) -> AsyncGenerator[Delta, None]:
        """Answer, or call tools; without `tools` what was called before is told in words.

        ModelUnavailable says why not, or no more. Closing the generator makes the model stop at once.
        """
        if tools and await self.native():
            answer = self._model.stream(messages, max_tokens=max_tokens, tools=tools)
        elif tools and (call := await self._decide(tools, occasion)):
            yield call
            yield Finish("tool_calls")
            return
        else:
            answer = self._model.stream(without_calls(messages), max_tokens=max_tokens)
        async with aclosing(answer) as deltas:
            async for delta in deltas:
                yield delta

    async def _decide(self, tools: Sequence[Tool], occasion: Occasion) -> ToolCall | None:
        return await self._decider.decide(
            occasion.message, occasion.earlier, tools, occasion.hints, used=occasion.used
        )
