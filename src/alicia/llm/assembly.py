"""Putting together what a server sends in pieces: text, reasoning paragraphs, tool calls, the end."""

from collections.abc import Iterator
from typing import Any

from openai.types.chat import ChatCompletionChunk
from openai.types.chat.chat_completion_chunk import ChoiceDelta, ChoiceDeltaToolCall
from openai.types.completion_usage import CompletionUsage

from alicia.llm.messages import Delta, Finish, ReasoningDelta, TextDelta, ToolCall
from alicia.llm.reasoning import Paragraphs, ThinkTags

_REASONING_FIELDS = ("reasoning_content", "reasoning")


class _Call:
    def __init__(self, id_: str) -> None:
        self.id = id_
        self.name = ""
        self.arguments: list[str] = []


class Assembly:
    """One answer in the making.

    Servers are lenient with the format, and the SDK passes on what they send: nothing that its types promise
    is taken for granted here.
    """

    def __init__(self) -> None:
        self.begun = False
        """Whether the model has said, thought or asked for anything."""
        self.ended = False
        """Whether the server has said that the answer is finished."""
        self._tags = ThinkTags()
        self._paragraphs = Paragraphs()
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._reason = ""
        self._usage: CompletionUsage | None = None

    def feed(self, chunk: ChatCompletionChunk) -> Iterator[Delta]:
        """Take the next chunk; yield what is ready to be passed on."""
        if chunk.usage:
            self._usage = chunk.usage
        for choice in chunk.choices or ():
            if choice.delta:
                yield from self._delta(choice.delta)
            if choice.finish_reason:
                self._reason = choice.finish_reason
                self.ended = True

    def rest(self) -> Iterator[Delta]:
        """What was held back: the end of the text or of the reasoning, and the tool calls. Yielded once."""
        for thought, text in self._tags.flush():
            yield from self._sort(thought, text)
        yield from self._end_reasoning()
        if self.ended:
            for call in self._calls:
                yield ToolCall(call.id, call.name, "".join(call.arguments) or "{}")
            self._calls = []

    def finish(self) -> Finish:
        """The closing delta."""
        usage = self._usage
        if usage is None:
            return Finish(self._reason)
        details = usage.prompt_tokens_details
        cached = details.cached_tokens if details else None
        return Finish(self._reason, usage.prompt_tokens, usage.completion_tokens, cached)

    def _delta(self, delta: ChoiceDelta) -> Iterator[Delta]:
        extra: dict[str, Any] = delta.model_extra or {}
        for field in _REASONING_FIELDS:
            thought = extra.get(field)
            if isinstance(thought, str) and thought:
                yield from self._sort(True, thought)
                break
        if delta.content:
            for is_thought, text in self._tags.feed(delta.content):
                yield from self._sort(is_thought, text)
        for call in delta.tool_calls or ():
            self.begun = True
            yield from self._end_reasoning()
            self._call(call)

    def _sort(self, thought: bool, text: str) -> Iterator[Delta]:
        self.begun = True
        if thought:
            yield from map(ReasoningDelta, self._paragraphs.feed(text))
        else:
            yield from self._end_reasoning()
            yield TextDelta(text)

    def _end_reasoning(self) -> Iterator[Delta]:
        yield from map(ReasoningDelta, self._paragraphs.flush())

    def _call(self, part: ChoiceDeltaToolCall) -> None:
        """Add a piece of a tool call. Some servers number all calls 0 and tell them apart by id only."""
        index = part.index or 0
        call = self._by_index.get(index)
        if call is None or (part.id and call.id and part.id != call.id):
            call = _Call(part.id or f"call_{len(self._calls)}")
            self._by_index[index] = call
            self._calls.append(call)
        if part.function:
            call.name += part.function.name or ""
            call.arguments.append(part.function.arguments or "")
