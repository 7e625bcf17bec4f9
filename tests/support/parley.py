"""A conversation in the test's own process: the engine on a real ledger, whose steps a test may hold.

There is no room between the two: over LiveKit no test can make sure what comes first. What people see of the
same in a room is tested in tests/agent.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar, cast

from alicia import ids
from alicia.engine.conversation import Conversation
from alicia.engine.pauses import Pauses
from alicia.engine.services import Services
from alicia.errors import ModelUnavailable
from alicia.ledger.entries import Entry
from alicia.ledger.known import Known
from alicia.ledger.ledger import Ledger
from alicia.llm.messages import Delta, Message, TextDelta
from alicia.memory.learning import Lesson
from alicia.memory.memory import Recalled
from alicia.protocol.envelope import Envelope, decode, encode, split
from alicia.protocol.messages import (
    Acknowledgement,
    AssistantSentence,
    Body,
    Configuration,
    ControlVariation,
    StartAnswer,
    UserMessage,
)
from alicia.protocol.session import AgentSession
from alicia.storage.pool import Pool
from alicia.tools.box import Toolbox

B = TypeVar("B", bound=Body)
PATIENCE = 30.0


class Hold:
    """A place where something waits for the test."""

    def __init__(self, wanted: Callable[[Body], bool]) -> None:
        self.wanted = wanted
        self.reached = asyncio.Event()
        self.released = asyncio.Event()

    async def __call__(self, bodies: Sequence[Body]) -> None:
        if not self.reached.is_set() and any(map(self.wanted, bodies)):
            self.reached.set()
            await self.released.wait()


class HeldLedger(Ledger):
    """Waits before it stores what a test has named."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, f"agent-{ids.new(ids.MessageId)}")
        self.holds: list[Hold] = []
        self.looked_up: list[Body] = []
        self.looking = asyncio.Condition()

    async def known(self, conversation_id: ids.ConversationId, body: Body) -> Known:
        known = await super().known(conversation_id, body)
        async with self.looking:
            self.looked_up.append(body)
            self.looking.notify_all()
        return known

    async def append(
        self, session: AgentSession, *entries: Entry | Body, accepted: Envelope | None = None
    ) -> list[bytes]:
        for hold in self.holds:
            await hold([each.body if isinstance(each, Entry) else each for each in entries])
        return await super().append(session, *entries, accepted=accepted)


class Script:
    """Says what it was given for a prompt that ends with certain words; what is held, when it is let."""

    takes_tools = False

    def __init__(self) -> None:
        self.prompts: list[list[str]] = []
        self.holds: dict[str, asyncio.Event] = {}
        self.lingers: dict[str, asyncio.Event] = {}
        """Prompts whose answer takes until then to end when it is stopped."""
        self.talkative: set[str] = set()
        """Prompts whose answer never ends by itself."""
        self.left = asyncio.Event()
        """One of those was stopped."""
        self.minutes: list[str] = []
        """What it notes of a conversation that is summed up."""
        self.remembered = asyncio.Event()
        """Until then no answer begins."""
        self.remembered.set()
        self.asked = asyncio.Condition()

    async def stream(self, messages: Sequence[Message], *_: object, **__: object) -> AsyncGenerator[Delta]:
        async with self.asked:
            self.prompts.append([message.content.rpartition("\n\n")[2] for message in messages[1:]])
            self.asked.notify_all()
        question = self.prompts[-1][-1]
        try:
            if hold := self.holds.get(question):
                await hold.wait()
            if question in self.talkative:
                yield TextDelta(f"About {question}. And so on")
                await self._ramble()
            yield TextDelta(f"About {question}")
        finally:
            linger = self.lingers.get(question)
            while linger and not linger.is_set():
                with suppress(asyncio.CancelledError):
                    await linger.wait()

    async def _ramble(self) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self.left.set()

    async def complete(self, *_: object, schema: dict[str, Any], **__: object) -> Any:
        if self.minutes and "points" in schema["properties"]:
            return {"points": self.minutes}
        raise ModelUnavailable("busy", "Not now.")

    async def recall(self, *_: object, **__: object) -> list[Recalled]:
        await self.remembered.wait()
        return []

    async def learn(self, *_: object, **__: object) -> Lesson:
        return Lesson()


class Parley:
    """One device and one conversation, with nothing between them but what the test holds."""

    def __init__(self, pool: Pool, user: str) -> None:
        self.pool = pool
        self.user = user
        self.device = f"{user}:phone"
        self.ledger = HeldLedger(pool)
        self.model = Script()
        self.pauses = Pauses(one_by_one=True)
        self.bodies: list[Body] = []
        """The durable stanzas and the answers to what was sent, as the device got them."""
        self.sendings: list[Hold] = []
        """Where what the device has seen already is still being sent, for all that the agent knows."""
        self._clock = 0
        self._came = asyncio.Condition()
        services = Services(
            pool=pool,
            ledger=self.ledger,
            model=cast("Any", self.model),
            calling=cast("Any", self.model),
            tools=Toolbox([]),
            recall=self.model,
            lessons=self.model,
            pauses=self.pauses,
            budget=8000,
            answer_tokens=100,
        )
        self.conversation = Conversation(ids.new(ids.ConversationId), services, self)

    @property
    def id(self) -> ids.ConversationId:
        return self.conversation.id

    async def send(self, packet: bytes, to: Sequence[str]) -> None:
        """The agent sends: the device has it at once."""
        assert list(to) == [self.device]
        envelopes = [decode(data) for data in split(packet)]
        bodies = [each.body for each in envelopes if isinstance(each.body, Body)]
        self._clock = max(self._clock, *(abs(each.stanza_id) for each in envelopes))
        async with self._came:
            self.bodies += bodies
            self._came.notify_all()
        for hold in self.sendings:
            await hold(bodies)

    async def hears(self, kind: type[B], where: Callable[[B], bool] = lambda _: True) -> B:
        """The first body of this type that fits, as soon as it has come."""

        def found() -> list[B]:
            return [body for body in self.bodies if isinstance(body, kind) and where(body)]

        async with asyncio.timeout(PATIENCE), self._came:
            await self._came.wait_for(found)
            return found()[0]

    def submit(self, body: B) -> B:
        """The device sends."""
        self._clock += 1
        envelope = Envelope(stanza_id=self._clock, conversation_id=self.id, type=body.CODE, body=body)
        self.conversation.receive(self.device, encode(envelope))
        return body

    def open(self, **fields: Any) -> None:
        self.submit(Configuration(conversation_id=self.id, last_sequence_seen=0, **fields))

    def ask(self, text: str, **fields: Any) -> UserMessage:
        given = {"id": ids.new(ids.MessageId), **fields}
        return self.submit(UserMessage(conversation_id=self.id, content=text, **given))

    def vary(self, target_id: ids.MessageId, content: str | None = None) -> ControlVariation:
        """Edit a message, or have an answer given again."""
        return self.submit(
            ControlVariation(
                conversation_id=self.id,
                id=ids.new(ids.MessageId),
                target_id=target_id,
                mode="regenerate" if content is None else "edit",
                content=content,
            )
        )

    async def taken(self, sent: Body) -> None:
        """Wait until the agent is about to store what was sent."""
        async with asyncio.timeout(PATIENCE), self.ledger.looking:
            await self.ledger.looking.wait_for(lambda: sent in self.ledger.looked_up)

    async def stored(self, sent: UserMessage | ControlVariation) -> None:
        """Wait for the acknowledgement."""
        await self.hears(Acknowledgement, lambda body: body.id == sent.id)

    async def echo(self, sent: UserMessage) -> UserMessage:
        """A message as it was stored."""
        return await self.hears(UserMessage, lambda body: body.id == sent.id)

    async def started(self, question_id: ids.MessageId) -> StartAnswer:
        return await self.hears(StartAnswer, lambda body: body.previous_id == question_id)

    async def closed(self, answer_id: ids.MessageId) -> AssistantSentence:
        return await self.hears(
            AssistantSentence, lambda body: body.is_final and body.previous_id == answer_id
        )

    async def answered(self, question: UserMessage) -> StartAnswer:
        """Wait for the answer's last sentence."""
        started = await self.started(question.id)
        await self.closed(started.id)
        return started

    async def prompt_for(self, text: str) -> list[str]:
        """Ask; what the model is told then."""
        self.ask(text)
        return await self.prompted(text)

    async def prompted(self, question: str) -> list[str]:
        """What the model is told when this is asked, as soon as it is."""

        def found() -> list[list[str]]:
            return [prompt for prompt in self.model.prompts if prompt[-1] == question]

        async with asyncio.timeout(PATIENCE), self.model.asked:
            await self.model.asked.wait_for(found)
            return found()[-1]


@asynccontextmanager
async def parley(pool: Pool, user: str) -> AsyncGenerator[Parley]:
    """A conversation whose device is up to date."""
    async with unopened(pool, user) as made:
        made.open()
        await made.hears(Acknowledgement)
        yield made


@asynccontextmanager
async def unopened(pool: Pool, user: str) -> AsyncGenerator[Parley]:
    """A conversation that nobody has opened yet."""
    made = Parley(pool, user)
    running = asyncio.create_task(made.conversation.run())
    made.conversation.joined(made.device)
    try:
        yield made
    finally:
        for linger in made.model.lingers.values():
            linger.set()
        running.cancel()
        await asyncio.wait([running])
