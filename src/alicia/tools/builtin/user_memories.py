"""The memory, as the tools ask for it."""

from collections.abc import Sequence

from alicia import ids
from alicia.errors import ErrorCode
from alicia.ids import MemoryId
from alicia.ledger.entries import Entry
from alicia.memory.changes import snippet
from alicia.memory.memory import Memory, MemoryRefused
from alicia.protocol.messages import MemoryTrace
from alicia.storage.memories import Memory as Kept
from alicia.storage.memories import NewMemory
from alicia.tools.builtin.memories import Forgotten, KeptMemory, Remembered
from alicia.tools.definition import Caller, ToolError


class UserMemories:
    """`Memories` over the real memory; in a conversation, what is remembered is written with the result."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def remember(self, caller: Caller, content: str, importance: float | None) -> Remembered:
        """Keep a fact about the user; ToolError with the reason, or with a question for the user, if not."""
        new = (
            NewMemory(content=content)
            if importance is None
            else NewMemory(content=content, importance=importance)
        )
        try:
            kept = await self._memory.remember(
                caller.user_id, new, conversation_id=caller.conversation_id, message_id=caller.message_id
            )
        except MemoryRefused as error:
            raise ToolError(str(error)) from error
        if kept.change is None:
            question = kept.contradiction.question if kept.contradiction else "It says nothing new."
            raise ToolError(f"Not remembered yet. Ask the user: {question}")
        memory = KeptMemory(memory_id=kept.change.memory_id, content=kept.change.memory.content)
        return Remembered(memory=memory, effects=(kept.entry,) if kept.entry else ())

    async def forget(self, caller: Caller, memory_id: MemoryId) -> Forgotten:
        """Delete one memory of this user's, at once."""
        gone = await self._memory.forget(caller.user_id, memory_id)
        if gone is None:
            return Forgotten(memories=())
        kept = KeptMemory(memory_id=gone.id, content=gone.content)
        return Forgotten(memories=(kept,), effects=_trace(caller, gone))

    async def search(self, caller: Caller, query: str, limit: int) -> Sequence[KeptMemory]:
        """What fits the query, best first; ToolError while memory is off."""
        if not await self._memory.is_on(caller.user_id, caller.conversation_id):
            raise ToolError("Memory is switched off here.", ErrorCode.TOOL_FAILED)
        found = await self._memory.search(caller.user_id, query, limit=limit)
        return [
            KeptMemory(
                memory_id=one.memory.id,
                content=one.memory.content,
                score=one.score,
                created_at=one.memory.created_at,
            )
            for one in found
        ]


def _trace(caller: Caller, gone: Kept) -> tuple[Entry, ...]:
    """What tells the devices that a memory is gone."""
    if caller.conversation_id is None or caller.message_id is None:
        return ()
    body = MemoryTrace(
        conversation_id=caller.conversation_id,
        id=ids.new(ids.MemoryUseId),
        previous_id=caller.message_id,
        memory_id=gone.id,
        memory_type=gone.memory_type,
        action="updated",
        content=snippet(gone.content),
        metadata={"reason": "forgotten"},
    )
    return (Entry(body),)
