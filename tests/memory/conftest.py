"""A real embedder for the whole run, memories over a real database, and conversations to learn from."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest

from alicia import ids
from alicia.ids import ConversationId, MessageId
from alicia.ledger.entries import Entry
from alicia.ledger.ledger import Ledger
from alicia.llm.chat import ChatModel, Patience
from alicia.local.embedder import LocalEmbedder
from alicia.memory.learning import Lesson, Turn
from alicia.memory.memory import Memory
from alicia.protocol.messages import UserMessage
from alicia.protocol.session import AgentSession
from alicia.storage.memories import NewMemory, memories
from alicia.storage.pool import Pool
from support.scripted import Request, ScriptedServer


@pytest.fixture(scope="session")
def database_url(quiet_database_url: str) -> str:
    return quiet_database_url


@pytest.fixture(scope="session")
def embedder() -> Iterator[LocalEmbedder]:
    """The embedded model, loaded once."""
    made = LocalEmbedder()
    yield made
    asyncio.run(made.aclose())


@pytest.fixture
async def model(scripted: ScriptedServer) -> AsyncIterator[ChatModel]:
    """A language model that answers as the test says."""
    async with ChatModel(scripted.url, scripted.model, patience=Patience(connect=2, retries=0)) as opened:
        yield opened


@pytest.fixture
def memory(pool: Pool, embedder: LocalEmbedder, model: ChatModel) -> Memory:
    return Memory(pool, embedder, model)


class Talk:
    """A conversation of one user, with a ledger to append to and a memory to learn with."""

    def __init__(self, pool: Pool, memory: Memory, user: str, session: AgentSession) -> None:
        self.pool = pool
        self.memory = memory
        self.user = user
        self.session = session
        self.ledger = Ledger(pool)
        self.stored: list[Entry] = []

    @property
    def id(self) -> ConversationId:
        return self.session.conversation_id

    async def say(self, text: str) -> Turn:
        """The user's message is stored; what is to be learned from it comes back."""
        message_id = ids.new(MessageId)
        message = UserMessage(conversation_id=self.id, id=message_id, content=text)
        await self.ledger.append(self.session, message)
        return Turn(user_id=self.user, conversation_id=self.id, message_id=message_id, text=text)

    async def store(self, entries: Sequence[Entry]) -> None:
        self.stored += entries
        await self.ledger.append(self.session, *entries)

    async def known(self) -> list[str]:
        """What is remembered of the user, oldest first."""
        async with self.pool.connection() as conn:
            return [one.content for one in reversed(await memories(conn, self.user, limit=200))]


@pytest.fixture
async def talk(pool: Pool, memory: Memory, user: str) -> Talk:
    return await begin(pool, memory, user)


async def begin(pool: Pool, memory: Memory, user: str) -> Talk:
    conversation_id = ids.new(ConversationId)
    await Ledger(pool).create(conversation_id, user)
    return Talk(pool, memory, user, AgentSession(conversation_id))


async def keep(memory: Memory, user: str, *contents: str) -> list[ids.MemoryId]:
    """Store these as they are."""
    return await memory.add(user, [NewMemory(content=content) for content in contents])


def told(*facts: str, kind: str = "about the user") -> dict[str, Any]:
    """What a model answers that finds a fact in each statement of a message."""
    return {"statements": [{"kind": kind, "facts": [each]} for each in facts]}


async def learn(
    talk: Talk, scripted: ScriptedServer, text: str, *facts: str, relation: str = "new", known: int = 0
) -> Lesson:
    """Say it, let the model find a fact in each statement, and judge them all like this."""

    def answer(request: Request) -> dict[str, Any]:
        if "New fact:" in request.user_text:
            return {"relation": relation, "known": known}
        assert request.schema is not None
        assert request.schema["properties"]["statements"]["minItems"] == len(facts)
        return told(*facts)

    scripted.make_json(answer)
    return await talk.memory.learn(await talk.say(text), talk.store)
