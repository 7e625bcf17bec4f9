"""Learning from a turn: what the user said is compared with what is known, and stored once."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final
from weakref import WeakValueDictionary

import msgspec
import structlog

from alicia import ids
from alicia.errors import ModelUnavailable
from alicia.ids import ConversationId, MemoryId, MessageId
from alicia.ledger.entries import Entry
from alicia.llm.messages import Message
from alicia.memory.changes import Change, Contradiction, changed, confirmed
from alicia.memory.comparing import Relation, compare
from alicia.memory.embeddings import Embedder
from alicia.memory.extraction import Completer, extract
from alicia.memory.judging import judge
from alicia.memory.query import Query
from alicia.memory.recall import Found, Searcher
from alicia.storage.lessons import touched_by
from alicia.storage.memories import Embedding, Memory, NewMemory
from alicia.storage.meta import set_meta
from alicia.storage.pool import Pool
from alicia.storage.summaries import MEMORY_TYPE
from alicia.storage.switch import memory_is_on, only_writer

log = structlog.stdlib.get_logger(__name__)

KNOWN: Final = 8
"""How many of the memories nearest to a fact it is compared with."""

HEARD: Final = 0.7
"""How sure a memory is that was heard once and not asked for."""

RELATED: Final = 0.4
"""How near a memory must be for the model to be asked whether it is the same, or changed."""

CONTRADICTION: Final = "contradiction"
"""The key under which `alicia_meta` keeps what was said against a pinned memory."""

Store = Callable[[Sequence[Entry]], Awaitable[object]]
"""Appends entries to the turn's conversation."""


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What the user said, where, and what came before it."""

    user_id: str
    conversation_id: ConversationId
    message_id: MessageId
    text: str
    before: Sequence[Message] = ()


class Lesson(msgspec.Struct, frozen=True, kw_only=True):
    """What was learned, and what is to be asked."""

    changes: tuple[Change, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of one fact: a change or a question."""

    change: Change | None = None
    contradiction: Contradiction | None = None
    known: Memory | None = None


class Learner:
    """Learns in the background. Nothing is held while the model works; owners take turns only to store."""

    def __init__(
        self, pool: Pool, embedder: Embedder, searcher: Searcher, model: Completer | None, *, at_once: int = 2
    ) -> None:
        self._pool = pool
        self._embedder = embedder
        self._searcher = searcher
        self._model = model
        # Each writer holds a connection and needs another to store: more at once could wait for each other.
        self._writers = asyncio.Semaphore(at_once)
        self._owners: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def learn(self, turn: Turn, store: Store) -> Lesson:
        """Ask what the user's words hold, compare, and `store` the entries; ModelUnavailable for no answer.

        Cancelling it before `store` is called leaves everything as it was.
        """
        if self._model is None:
            return Lesson()
        async with self._pool.connection() as conn:
            if not await memory_is_on(conn, turn.user_id, turn.conversation_id):
                return Lesson()
        facts = await extract(self._model, turn.text, turn.before)
        if not facts:
            return Lesson()
        hints = [await self._hint(self._model, turn.user_id, fact.content) for fact in facts]
        source = {"conversationId": turn.conversation_id, "messageId": turn.message_id}
        async with self.writing(turn.user_id):
            # Asked again: the user may have switched memory off while the model was thinking.
            async with self._pool.connection() as conn:
                if not await memory_is_on(conn, turn.user_id, turn.conversation_id):
                    return Lesson()
                # What one message says counts once, also when it is learned from again after a crash.
                taken = await touched_by(conn, turn.user_id, turn.message_id)
            decisions: list[Decision] = []
            for fact, hint in zip(facts, hints, strict=True):
                new = NewMemory(
                    content=fact.content,
                    confidence=HEARD,
                    source_type="conversation",
                    source_info=source,
                    memory_type=fact.type,
                )
                decision = await self.decide(turn.user_id, new, hint=hint)
                if decision.change is None or decision.change.memory_id not in taken:
                    decisions.append(decision)
                if decision.change:
                    taken.add(decision.change.memory_id)
            changes = tuple(one.change for one in _distinct(decisions) if one.change)
            questions = tuple(one.contradiction for one in decisions if one.contradiction)
            for question in questions:
                await self.note(question)
            if changes:
                await store([change.entry(turn.conversation_id, turn.message_id) for change in changes])
        log.info("learned", conversation_id=turn.conversation_id, count=len(changes), asked=len(questions))
        return Lesson(changes=changes, contradictions=questions)

    @asynccontextmanager
    async def writing(self, owner: str) -> AsyncGenerator[None]:
        """Hold off whoever else would compare and write this owner's memories, here and elsewhere."""
        lock = self._owners.get(owner)
        if lock is None:
            lock = self._owners[owner] = asyncio.Lock()
        # The lock of this process comes first, so that no more than one connection waits for the shared one.
        async with lock, self._writers, only_writer(self._pool, owner):
            yield

    async def decide(
        self,
        owner: str,
        new: NewMemory,
        *,
        hint: tuple[MemoryId, str] | None = None,
        sure: bool = False,
    ) -> Decision:
        """What a new memory does to the known ones. `hint` is what the model thinks of one of them.

        Call it inside `writing`. `sure`: the user asks for it, so a memory that says it already is certain.
        """
        vector = await self.vector(new.content)
        new = msgspec.structs.replace(new, embedding=vector)
        near = await self._searcher.search(owner, Query(message=new.content), limit=KNOWN, vector=vector)
        relations = [(_relation(found, new.content, hint), found) for found in near if _personal(found)]
        for relation, found in relations:
            if relation == "same":
                return await self._confirm(found, sure)
        for relation, found in relations:
            if relation == "changes":
                return self._change(found, new)
        change = Change(memory_id=ids.new(MemoryId), memory=new, reason="new")
        return Decision(change=change)

    async def note(self, question: Contradiction) -> None:
        """Keep what was said against a pinned memory until it is settled; recall brings it up."""
        async with self._pool.connection() as conn:
            await set_meta(conn, question.memory_id, CONTRADICTION, question.said)

    async def vector(self, text: str) -> Embedding | None:
        """The text's vector; None when the embedder fails, and then the gap is filled later."""
        try:
            return (await self._embedder.embed([text]))[0]
        except ModelUnavailable:
            log.warning("memory stored without a vector")
            return None

    async def _hint(self, model: Completer, owner: str, said: str) -> tuple[MemoryId, str] | None:
        """What the model thinks of the memory that a fact confirms or changes, if the words do not tell."""
        near = await self._searcher.search(owner, Query(message=said), limit=KNOWN)
        related = [found for found in near if _personal(found) and _related(found)]
        told = (compare(found.memory.content, said, found.ranked.similarity) for found in related)
        if not related or any(relation != "other" for relation in told):
            return None
        opinion = await judge(model, said, [found.memory.content for found in related])
        if opinion.relation == "new" or not 0 < opinion.known <= len(related):
            return None
        return related[opinion.known - 1].memory.id, opinion.relation

    async def _confirm(self, found: Found, sure: bool) -> Decision:
        known = found.memory
        again = confirmed(known, await self.vector(known.content), sure)
        change = Change(
            memory_id=known.id, memory=again, reason="confirmed", similarity=found.ranked.similarity
        )
        return Decision(change=change, known=known)

    def _change(self, found: Found, new: NewMemory) -> Decision:
        known = found.memory
        if known.pinned:
            asked = Contradiction(memory_id=known.id, known=known.content, said=new.content)
            return Decision(contradiction=asked, known=known)
        now = datetime.now(UTC)
        memory = changed(known, new.content, new.embedding, new.confidence, now)
        change = Change(
            memory_id=known.id, memory=memory, reason="changed", similarity=found.ranked.similarity
        )
        return Decision(change=change, known=known)


def _personal(found: Found) -> bool:
    """What a document or a summary says is its own; the user's words neither confirm nor change it."""
    return found.memory.source_type != "document" and found.memory.memory_type != MEMORY_TYPE


def _related(found: Found) -> bool:
    """Whether the two have to do with each other; without a vector their common words say so."""
    similarity = found.ranked.similarity
    return similarity is None or similarity >= RELATED


def _relation(found: Found, said: str, hint: tuple[MemoryId, str] | None) -> Relation:
    """What the words tell, or else what the model thinks."""
    relation = compare(found.memory.content, said, found.ranked.similarity)
    if relation == "other" and hint and found.memory.id == hint[0]:
        return "same" if hint[1] == "same" else "changes"
    return relation


def _distinct(decisions: Sequence[Decision]) -> list[Decision]:
    """Two facts of one turn that say the same are one."""
    kept: list[Decision] = []
    for decision in decisions:
        if decision.change and decision.change.reason == "new":
            content = decision.change.memory.content
            earlier = [one.change.memory.content for one in kept if one.change]
            if any(compare(other, content, None) == "same" for other in earlier):
                continue
        kept.append(decision)
    return kept
