"""Whether a model calls tools by itself: found out once, or told."""

import asyncio
import contextlib
from typing import Final

import msgspec
import structlog

from alicia.errors import ModelUnavailable
from alicia.llm.messages import Message, Tool, ToolCall
from alicia.tools.decision.decide import Model

log = structlog.stdlib.get_logger(__name__)

_ATTEMPTS: Final = 3
_RING: Final = Tool(
    "ring_bell",
    "Rings the bell.",
    {
        "type": "object",
        "properties": {"times": {"type": "integer"}},
        "required": ["times"],
        "additionalProperties": False,
    },
)
_PLEASE: Final = (
    Message("system", "You use the tools that you have. You never write text when a tool can do it."),
    Message("user", "Ring the bell twice, now, with the tool ring_bell."),
)


class ToolCalling:
    """What is known about one model. `native` is None until it was asked, or a setting says so."""

    def __init__(self, model: Model, native: bool | None = None) -> None:
        self._model = model
        self._native = native
        self._failures = 0
        self._asking = asyncio.Lock()

    @property
    def known(self) -> bool | None:
        """What is known by now."""
        return self._native

    async def native(self) -> bool:
        """Whether the model answers `tools` with calls; the first to ask waits for one short answer.

        A model that is not to be reached counts as one that cannot, for now; after some attempts for good,
        since there are servers that answer any question about tools with an error.
        """
        async with self._asking:
            if self._native is None:
                try:
                    self._native = await self._rings()
                except ModelUnavailable:
                    self._failures += 1
                    if self._failures >= _ATTEMPTS:
                        self._native = False
                    return False
                log.info("model asked for a tool call", native=self._native)
            return self._native

    async def _rings(self) -> bool:
        async with contextlib.aclosing(self._model.stream(_PLEASE, max_tokens=100, tools=[_RING])) as deltas:
            async for delta in deltas:
                if isinstance(delta, ToolCall):
                    return delta.name == _RING.name and _is_object(delta.arguments)
        return False


def _is_object(text: str) -> bool:
    try:
        msgspec.json.decode(text, type=dict[str, object])
    except msgspec.MsgspecError:
        return False
    return True
