"""The memory, as the tools ask for it."""

from collections.abc import Sequence

from alicia.errors import ErrorCode
from alicia.ids import MemoryId
from alicia.memory.memory import Memory, MemoryRefused
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
        return Forgotten(memories=(KeptMemory(memory_id=gone.id, content=gone.content),) if gone else ())

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
