"""Remembering, forgetting and looking things up, for the user who asks and nobody else."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, Protocol

import msgspec

from alicia.errors import ErrorCode
from alicia.ids import MemoryId
from alicia.ledger.entries import Entry
from alicia.tools.definition import Caller, Definition, Hint, ToolError
from alicia.tools.outcome import ToolOutcome, succeeded


class KeptMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A memory as the model sees it. `score` is 0 to 1, how well it fits what was asked."""

    memory_id: MemoryId
    content: str
    score: float | None = None
    created_at: datetime | None = None


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that is new, or that was there already; `effects` is what is to be written with the result."""

    memory: KeptMemory
    effects: tuple[Entry, ...] = ()


class Forgotten(msgspec.Struct, frozen=True, kw_only=True):
    """The memories that are gone, or that will be once `effects` is written."""

    memories: tuple[KeptMemory, ...]
    effects: tuple[Entry, ...] = ()


class Memories(Protocol):
    """What these tools ask of the memory."""

    async def remember(self, caller: Caller, content: str, importance: float | None) -> Remembered:
        """Keep a fact about the user."""
        ...

    async def forget(self, caller: Caller, memory_id: MemoryId) -> Forgotten:
        """Delete one memory of this user's; none if there is no such memory."""
        ...

    async def search(self, caller: Caller, query: str, limit: int) -> Sequence[KeptMemory]:
        """What fits the query, best first."""
        ...


_REMEMBER: Final = {
    "type": "object",
    "properties": {
        "content": {
            "type": "string",
            "minLength": 1,
            "maxLength": 2_000,
            "description": "one fact about the user, as a whole sentence",
        },
        "importance": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["content"],
    "additionalProperties": False,
}
_FORGET: Final = {
    "type": "object",
    "properties": {
        "content": {
            "type": "string",
            "minLength": 1,
            "maxLength": 2_000,
            "description": "what to forget, in words like those it was remembered in",
        },
        "memory_id": {
            "type": "string",
            "maxLength": 64,
            "description": "the id that search_memory gave, if known",
        },
    },
    "minProperties": 1,
    "additionalProperties": False,
}
_SEARCH: Final = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1, "maxLength": 1_000},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50},
    },
    "required": ["query"],
    "additionalProperties": False,
}
SURE: Final = 0.5
"""How well a memory must fit before it is forgotten by its content alone."""

_REMEMBER_WORDS: Final = re.compile(
    r"\b(?:remember|don'?t forget|keep in mind|note (?:down|that)|memori[sz]e|merk\w*|souviens|recuerda)\b",
    re.IGNORECASE,
)
_FORGET_WORDS: Final = re.compile(
    r"\b(?:forget|delete|erase|remove|vergiss|oublie\w*|olvida)\b", re.IGNORECASE
)
_SEARCH_WORDS: Final = re.compile(
    r"\b(?:remember|know about me|did i (?:tell|say|mention)|i (?:told|said|mentioned)|memor(?:y|ies))\b",
    re.IGNORECASE,
)


def memory_tools(memories: Memories) -> tuple[Definition, ...]:
    """`remember`, `forget` and `search_memory`."""

    async def remember(caller: Caller, arguments: dict[str, Any]) -> ToolOutcome:
        done = await memories.remember(caller, arguments["content"], arguments.get("importance"))
        return succeeded({"remembered": _shown(done.memory)}, done.effects)

    async def forget(caller: Caller, arguments: dict[str, Any]) -> ToolOutcome:
        memory_id = arguments.get("memory_id") or await _best(memories, caller, arguments["content"])
        done = await memories.forget(caller, MemoryId(memory_id))
        if not done.memories:
            raise ToolError(f"There is no memory {memory_id!r}.", ErrorCode.INVALID_PARAMETERS)
        return succeeded({"forgotten": [_shown(memory) for memory in done.memories]}, done.effects)

    async def search(caller: Caller, arguments: dict[str, Any]) -> ToolOutcome:
        found = await memories.search(caller, arguments["query"], arguments.get("limit", 10))
        return succeeded({"memories": [_shown(memory) for memory in found]})

    return (
        Definition(
            name="remember",
            description="Keeps a fact about the user for all later conversations. Use it when asked to.",
            schema=_REMEMBER,
            run=remember,
            hint=Hint(
                applies=lambda text: _REMEMBER_WORDS.search(text) is not None,
                examples=(
                    ("Please remember that I have two sisters.", {"content": "The user has two sisters."}),
                ),
            ),
        ),
        Definition(
            name="forget",
            description="Deletes what was remembered about the user. Use it only when asked to.",
            schema=_FORGET,
            run=forget,
            hint=Hint(
                applies=lambda text: _FORGET_WORDS.search(text) is not None,
                examples=(("Forget that I like jazz.", {"content": "The user likes jazz."}),),
            ),
        ),
        Definition(
            name="search_memory",
            description="Looks up what is remembered about the user.",
            schema=_SEARCH,
            run=search,
            hint=Hint(
                applies=lambda text: _SEARCH_WORDS.search(text) is not None,
                examples=(("Do you remember my sisters' names?", {"query": "sisters' names"}),),
            ),
        ),
    )


async def _best(memories: Memories, caller: Caller, content: str) -> str:
    """The one memory that is meant; a guess that is not sure is left to the model and the user."""
    found = await memories.search(caller, content, 3)
    if found and (found[0].score is None or found[0].score >= SURE):
        return found[0].memory_id
    known = "; ".join(f"{memory.memory_id}: {memory.content[:100]}" for memory in found)
    raise ToolError(
        f"No memory is clearly that. The nearest are: {known or 'none'}.", ErrorCode.INVALID_PARAMETERS
    )


def _shown(memory: KeptMemory) -> dict[str, Any]:
    shown: dict[str, Any] = {"memoryId": memory.memory_id, "content": memory.content}
    if memory.score is not None:
        shown["score"] = round(memory.score, 3)
    if memory.created_at is not None:
        shown["createdAt"] = memory.created_at.isoformat(timespec="seconds")
    return shown
