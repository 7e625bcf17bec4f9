"""What learning and remembering come to: memories to store or to change, as entries for the ledger."""

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from alicia import ids
from alicia.ids import ConversationId, MemoryId, MemoryUseId, MessageId
from alicia.ledger.entries import Entry, Recalled
from alicia.protocol.messages import MemoryTrace
from alicia.storage.memories import Embedding, Memory, NewMemory

Reason = Literal["new", "confirmed", "changed"]
SNIPPET = 500
"""How many characters of a memory a trace shows."""


class Change(Struct, frozen=True, kw_only=True):
    """A memory to store, or to change in place."""

    memory_id: MemoryId
    memory: NewMemory
    reason: Reason
    similarity: float | None = None

    @property
    def action(self) -> Literal["stored", "updated"]:
        """What a MemoryTrace calls it."""
        return "stored" if self.reason == "new" else "updated"

    def entry(self, conversation_id: ConversationId, previous_id: MessageId) -> Entry:
        """The MemoryTrace that writes this change; `previous_id` is the message that it was learned from."""
        metadata: dict[str, Any] = {"reason": self.reason, "tags": list(self.memory.tags)}
        if self.memory.source_type:
            metadata["source"] = self.memory.source_type
        body = MemoryTrace(
            conversation_id=conversation_id,
            id=ids.new(MemoryUseId),
            previous_id=previous_id,
            memory_id=self.memory_id,
            memory_type=self.memory.memory_type,
            action=self.action,
            content=snippet(self.memory.content),
            confidence=self.memory.confidence,
            metadata=metadata,
        )
        return Entry(body, private=Recalled(similarity_score=self.similarity, memory=self.memory))


class Contradiction(Struct, frozen=True, kw_only=True):
    """The user has said something against a pinned memory: ask, and leave it as it is."""

    memory_id: MemoryId
    known: str
    said: str

    @property
    def question(self) -> str:
        """What to ask the user."""
        return f'You have pinned "{self.known}", but now I understand "{self.said}". Which one is right?'


def snippet(content: str) -> str:
    """The beginning of a long memory."""
    return content if len(content) <= SNIPPET else f"{content[: SNIPPET - 1]}…"


def confirmed(known: Memory, embedding: Embedding | None, sure: bool = False) -> NewMemory:
    """The same memory, believed more: certain when the user asks for it, else some of the doubt goes."""
    confidence = 1.0 if sure else 1 - (1 - known.confidence) * 0.6
    return _again(known, known.content, embedding, confidence, known.source_info)


def changed(
    known: Memory, content: str, embedding: Embedding | None, confidence: float, now: datetime
) -> NewMemory:
    """The memory with its new content; what it said before is kept with the time for which it was so."""
    since = known.source_info.get("validFrom") or known.created_at.isoformat()
    earlier: list[Any] = list(known.source_info.get("history") or [])
    earlier.append({"content": known.content, "validFrom": since, "validUntil": now.isoformat()})
    info = {**known.source_info, "history": earlier, "validFrom": now.isoformat()}
    return _again(known, content, embedding, confidence, info)


def _again(
    known: Memory, content: str, embedding: Embedding | None, confidence: float, info: dict[str, Any]
) -> NewMemory:
    return NewMemory(
        content=content,
        embedding=embedding,
        importance=known.importance,
        confidence=round(confidence, 4),
        user_rating=known.user_rating,
        source_type=known.source_type,
        source_info=info,
        tags=known.tags,
        pinned=known.pinned,
        memory_type=known.memory_type,
    )
