"""The memory of all users, each apart: recall, learning, remembering and forgetting behind one object."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from alicia.errors import AliciaError, ModelUnavailable
from alicia.ids import ConversationId, MemoryId, MessageId
from alicia.ledger.entries import Entry
from alicia.llm.messages import Message
from alicia.memory.changes import Change, Contradiction
from alicia.memory.embeddings import Embedder
from alicia.memory.extraction import Completer
from alicia.memory.guard import is_order
from alicia.memory.learning import CONTRADICTION, Learner, Lesson, Store, Turn
from alicia.memory.query import Query, make_query
from alicia.memory.recall import Found, Searcher
from alicia.storage import memories
from alicia.storage.keeping import put_memory, restore_memory
from alicia.storage.memories import Embedding, NewMemory
from alicia.storage.meta import meta_of, set_meta
from alicia.storage.pool import Pool
from alicia.storage.seeds import Filter
from alicia.storage.summaries import MEMORY_TYPE
from alicia.storage.switch import memory_is_on

FLOOR: Final = 0.25
"""What fits less well is not brought up. Of what answers a question, 98% lie above."""

MEANT: Final = 0.42
"""What is so near in meaning needs no word in common."""

BESIDE_THE_BEST: Final = 0.6
"""What fits so much less than the best is not brought up either."""

MOST: Final = 8
"""How many memories a message may bring up."""


class MemoryRefused(AliciaError):
    """Something that will not be remembered; the text says why."""


class Recalled(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that may help to answer, and how it was found: what a MemoryTrace and its row need."""

    memory_id: MemoryId
    content: str
    memory_type: str | None
    confidence: float
    """How well it fits, 0 to 1."""
    similarity: float | None
    position: int
    query_prompt: str
    metadata: dict[str, Any]
    """For the trace: `retrievalScore`, `tags` and `source`."""
    meta: dict[str, Any]
    """For the row: the parts of the score."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What `remember` did: a change, or a question to ask first. `entry` is still to be appended."""

    change: Change | None = None
    contradiction: Contradiction | None = None
    entry: Entry | None = None


class Memory:
    """One for all conversations; safe to share. Without a model it learns only what it is told to keep."""

    def __init__(self, pool: Pool, embedder: Embedder, model: Completer | None = None) -> None:
        self.model = model
        self._pool = pool
        self._embedder = embedder
        self._searcher = Searcher(pool, embedder)
        self._learner = Learner(pool, embedder, self._searcher, model)

    async def recall(
        self,
        user_id: str,
        conversation: Sequence[Message],
        message: str,
        *,
        conversation_id: ConversationId | None = None,
    ) -> list[Recalled]:
        """The memories that may help to answer `message`, pinned ones first; often none.

        Nothing is read when the user, or the conversation if it is named, has switched memory off.
        """
        query = make_query(message, conversation)
        if query is None or not await self.is_on(user_id, conversation_id):
            return []
        near = await self._searcher.search(user_id, query, limit=3 * MOST)
        # A conversation's own summary stands in its prompts already.
        found = _fitting([one for one in near if not _sums_up(one, conversation_id)])[:MOST]
        said = await self._contradictions([one.memory.id for one in found if one.memory.pinned])
        return [
            _recalled(one, position, query, said.get(one.memory.id)) for position, one in enumerate(found, 1)
        ]

    async def search(
        self,
        user_id: str,
        query: str,
        *,
        tags: Sequence[str] = (),
        memory_type: str | None = None,
        limit: int = 10,
    ) -> list[Found]:
        """The user's memories that fit a query, best first, each with its score and the score's parts."""
        text = query.replace("\0", " ").strip()
        only = Filter(tags=tags, memory_type=memory_type)
        return (
            await self._searcher.search(user_id, Query(message=text), only=only, limit=limit) if text else []
        )

    async def learn(self, turn: Turn, store: Store) -> Lesson:
        """Keep what is worth keeping of a turn: call it in the background, when its answer is done.

        `store` appends the entries to the turn's conversation; it is called once at most. ModelUnavailable
        when the model does not answer.
        """
        return await self._learner.learn(turn, store)

    async def remember(
        self,
        user_id: str,
        new: NewMemory,
        *,
        conversation_id: ConversationId | None = None,
        message_id: MessageId | None = None,
    ) -> Kept:
        """Keep what the user asks to keep, once; MemoryRefused for orders, and while memory is off.

        In a conversation the entry is given back, to be appended with what else there is to say; elsewhere
        the memory is written at once.
        """
        content = new.content.replace("\0", " ").strip()
        if not content:
            raise MemoryRefused("There is nothing to remember in an empty text.")
        if is_order(content):
            raise MemoryRefused("Instructions to the assistant are not kept as memories.")
        if not await self.is_on(user_id, conversation_id):
            raise MemoryRefused("Memory is switched off here, so nothing is remembered.")
        if conversation_id and message_id:
            info = {"conversationId": conversation_id, "messageId": message_id}
            new = msgspec.structs.replace(new, source_type="conversation", source_info=info | new.source_info)
        new = msgspec.structs.replace(new, content=content)
        async with self._learner.writing(user_id):
            decision = await self._learner.decide(user_id, new, sure=True)
            if decision.contradiction:
                await self._learner.note(decision.contradiction)
                return Kept(contradiction=decision.contradiction)
            change = decision.change
            assert change is not None  # noqa: S101 - a decision is one or the other
            if conversation_id and message_id:
                return Kept(change=change, entry=change.entry(conversation_id, message_id))
            async with self._pool.connection() as conn:
                await put_memory(conn, user_id, change.memory_id, change.memory)
            return Kept(change=change)

    async def add(self, user_id: str, new: Sequence[NewMemory]) -> list[MemoryId]:
        """Store memories as they are, without comparing; vectors that fail to come are made later."""
        vectors = await self._vectors([memory.content for memory in new])
        embedded = [
            msgspec.structs.replace(memory, embedding=vector)
            for memory, vector in zip(new, vectors, strict=True)
        ]
        async with self._pool.connection() as conn:
            return await memories.create_memories(conn, user_id, embedded)

    async def edit(self, user_id: str, memory_id: MemoryId, content: str) -> memories.Memory | None:
        """Change a memory's text, and settle what was said against it; None if it is not this user's."""
        (vector,) = await self._vectors([content])
        async with self._pool.connection() as conn:
            edited = await memories.update_memory(conn, user_id, memory_id, content=content, embedding=vector)
            if edited:
                await set_meta(conn, memory_id, CONTRADICTION, None)
            return edited

    async def forget(self, user_id: str, memory_id: MemoryId) -> memories.Memory | None:
        """Delete a memory softly and give what it was; None if there is none. `restore` undoes it."""
        async with self._pool.connection() as conn, conn.transaction():
            known = await memories.memory(conn, user_id, memory_id)
            if known is not None:
                await memories.delete_memory(conn, user_id, memory_id)
                await set_meta(conn, memory_id, CONTRADICTION, None)
            return known

    async def restore(self, user_id: str, memory_id: MemoryId) -> memories.Memory | None:
        """Undo `forget`; None if there is nothing to undo."""
        async with self._pool.connection() as conn:
            return await restore_memory(conn, user_id, memory_id)

    async def is_on(self, user_id: str, conversation_id: ConversationId | None = None) -> bool:
        """Whether memory may be used for this user, in this conversation."""
        async with self._pool.connection() as conn:
            return await memory_is_on(conn, user_id, conversation_id)

    async def _vectors(self, texts: Sequence[str]) -> list[Embedding | None]:
        try:
            return list(await self._embedder.embed(texts))
        except ModelUnavailable:
            return [None] * len(texts)

    async def _contradictions(self, pinned: Sequence[str]) -> dict[str, str]:
        if not pinned:
            return {}
        async with self._pool.connection() as conn:
            rows = await meta_of(conn, *pinned)
        return {row.ref: row.value for row in rows if row.key == CONTRADICTION and row.value}


def _fitting(found: Sequence[Found]) -> list[Found]:
    """What is worth bringing up, pinned ones first: these may fit half as well."""
    beside = BESIDE_THE_BEST * max((one.score for one in found), default=0.0)
    pinned = [one for one in found if one.memory.pinned and one.score >= FLOOR / 2]
    fits = [one for one in found if one.score >= FLOOR or one.ranked.meaning >= MEANT]
    return pinned + [one for one in fits if one.score >= beside and not one.memory.pinned]


def _sums_up(found: Found, conversation_id: ConversationId | None) -> bool:
    memory = found.memory
    return memory.memory_type == MEMORY_TYPE and memory.source_info.get("conversationId") == conversation_id


def _recalled(found: Found, position: int, query: Query, said: str | None) -> Recalled:
    memory = found.memory
    content = memory.content
    if said:
        content = f'{content} (The user has since said: "{said}" Ask which one is right.)'
    metadata: dict[str, Any] = {"retrievalScore": round(found.score, 4), "tags": memory.tags}
    source = memory.source_info.get("document") or memory.source_type
    if source:
        metadata["source"] = source
    return Recalled(
        memory_id=memory.id,
        content=content,
        memory_type=memory.memory_type,
        confidence=round(found.score, 4),
        similarity=found.ranked.similarity,
        position=position,
        query_prompt=query.text,
        metadata=metadata,
        meta=found.parts,
    )
