"""A device with nothing between the test and the wire: joins a room, keeps the log, sends what it is told."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Protocol, TypeVar, runtime_checkable

import httpx2
from livekit import rtc

from alicia import ids
from alicia.protocol.client_session import NEW_CONVERSATION, ClientSession, Receipt
from alicia.protocol.envelope import Envelope, decode, encode, split
from alicia.protocol.messages import (
    Acknowledgement,
    AssistantMessage,
    AssistantSentence,
    Body,
    StartAnswer,
    UserMessage,
)
from support.rooms import Participant

B = TypeVar("B", bound=Body)


class Server(Protocol):
    """Where a device goes: `Stack`, or a whole `alicia up`."""

    url: str

    def token(self, user: str) -> str:
        """What proves to the API who asks."""
        ...


@runtime_checkable
class Hearing(Protocol):
    """A server that can tell whether a microphone is listened to."""

    def hears(self, track_sid: str) -> bool: ...


PATIENCE = 30.0
ASK_AGAIN = 0.25
MENDING = 60.0
"""Seconds until a lost link is there again: LiveKit tries to resume it for 15 s before it builds another."""


@lru_cache(maxsize=20_000)
def _body(data: bytes) -> Any:
    """Read once, though everybody who waits looks through the whole log again and again."""
    return decode(data).body


class Device:
    """Follows the protocol as a client must; everything that came stands in `log` and `heard`."""

    def __init__(self, room: Participant, session: ClientSession, settings: dict[str, Any]) -> None:
        self.room = room
        self.session = session
        self.log: list[bytes] = []
        """The durable stanzas that were accepted, byte for byte."""
        self.heard: list[Envelope] = []
        """Everything that came, duplicates and transient stanzas too."""
        self.received = 0
        """How many bytes came, from whomever."""
        self.losses = 0
        """How often its link was lost."""
        self.cut_off = False
        """Its link was lost, and it is not up to date again yet."""
        self._settings = settings
        self._changed = asyncio.Condition()
        room.room.on("participant_connected", self._joined)  # pyright: ignore[reportUnknownMemberType]
        room.room.on("reconnecting", self._reconnecting)  # pyright: ignore[reportUnknownMemberType]
        room.room.on("reconnected", self._reconnected)  # pyright: ignore[reportUnknownMemberType]
        room.room.on("track_published", self._subscribe)  # pyright: ignore[reportUnknownMemberType]
        self._subscribe()

    def _joined(self, other: rtc.RemoteParticipant) -> None:
        """A new agent knows nothing of this device yet."""
        if other.kind == rtc.ParticipantKind.PARTICIPANT_KIND_AGENT and self.heard:
            self.room.start(self.configure())

    def _subscribe(self, *_: object) -> None:
        """Hear the agents only: that another device listens does not tell that they hear a microphone."""
        for identity in self.agents:
            for publication in self.room.room.remote_participants[identity].track_publications.values():
                if publication.track is None:
                    publication.set_subscribed(True)

    def _reconnecting(self) -> None:
        self.losses += 1
        self.cut_off = True
        self.room.start(self._notify())

    def _reconnected(self) -> None:
        self._subscribe()
        self.room.start(self._catch_up())

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _catch_up(self) -> None:
        """What was sent while the link was lost did not arrive: ask for it."""
        count = len(self.heard)
        await self.configure()

        def is_up_to_date() -> bool:
            heads = [each.body for each in self.heard[count:] if isinstance(each.body, Acknowledgement)]
            return any(each.last_server_stanza_id >= (self.session.cursor or 0) for each in heads)

        await self.until(is_up_to_date)
        self.cut_off = False
        await self._notify()

    @property
    def id(self) -> ids.ConversationId:
        return self.session.conversation_id

    @property
    def bodies(self) -> list[Any]:
        """The log's bodies."""
        return [_body(data) for data in self.log]

    def all(self, kind: type[B]) -> list[B]:
        """The log's bodies of one type."""
        return [body for body in self.bodies if isinstance(body, kind)]

    async def until(self, condition: Callable[[], object], seconds: float = PATIENCE) -> None:
        """Wait until something that came makes the condition true."""
        async with self._changed:
            try:
                await asyncio.wait_for(self._changed.wait_for(condition), seconds)
            except TimeoutError:
                names = [type(envelope.body).__name__ for envelope in self.heard[-20:]]
                raise AssertionError(f"not within {seconds:.0f} s; heard last: {names}") from None

    async def hears(self, kind: type[B], check: Callable[[B], object] = lambda _: True) -> B:
        """Wait for a body of this type, durable or not, that satisfies the check."""

        def found() -> list[B]:
            return [each.body for each in self.heard if isinstance(each.body, kind) and check(each.body)]

        await self.until(found)
        return found()[0]

    async def say(self, text: str, **fields: Any) -> UserMessage:
        """Send a user's message."""
        message = UserMessage(conversation_id=self.id, id=ids.new(ids.MessageId), content=text, **fields)
        await self.submit(message)
        return message

    async def ask(self, text: str) -> str:
        """Send a user's message and wait for the end of its answer; the answer's id."""
        message = await self.say(text)
        return await self.answered(message)

    async def answered(self, message: UserMessage) -> str:
        """Wait for the end of the answer to a message."""
        start = await self.hears(StartAnswer, lambda body: body.previous_id == message.id)
        await self.closed(start.id)
        return start.id

    async def closed(self, answer_id: str, seconds: float = PATIENCE) -> AssistantSentence | AssistantMessage:
        """Wait for an answer's closing stanza."""

        def closing() -> list[AssistantSentence | AssistantMessage]:
            sentences = [each for each in self.all(AssistantSentence) if each.previous_id == answer_id]
            wholes = [each for each in self.all(AssistantMessage) if each.id == answer_id]
            return [each for each in sentences if each.is_final] + wholes

        await self.until(closing, seconds)
        return closing()[0]

    async def submit(self, body: Body) -> None:
        self.session.submit(body)
        await self._pump()

    async def insist(self) -> None:
        """Send again until it is confirmed what an agent dropped that had too much to do."""
        while self.session.outbox:
            try:
                await self.until(lambda: not self.session.outbox, ASK_AGAIN)
            except AssertionError:
                self.session.resend()
                await self._pump()

    async def send(self, envelope: Envelope) -> None:
        """To the agents only: other devices get it from them."""
        if agents := self.agents:
            await self.room.send(encode(envelope), to=agents)

    @property
    def agents(self) -> list[str]:
        """The agents in the room."""
        others = self.room.room.remote_participants.values()
        return [each.identity for each in others if each.kind == rtc.ParticipantKind.PARTICIPANT_KIND_AGENT]

    async def configure(self) -> None:
        """Send Configuration until it is answered."""
        count = len(self.heard)
        while True:
            await self.send(self.session.configuration(**self._settings))
            try:
                async with self._changed:
                    await asyncio.wait_for(
                        self._changed.wait_for(lambda: any(each.type == 12 for each in self.heard[count:])),
                        ASK_AGAIN,
                    )
            except TimeoutError:
                continue
            return

    async def listen(self) -> None:
        """Take in what comes, for as long as the device is there."""
        while True:
            packet = await self.room.packets.get()
            self.received += len(packet.data)
            if packet.sender not in self.agents:
                continue
            for data in split(packet.data):
                envelope = decode(bytes(data))
                receipt = self.session.receive(envelope)
                if receipt is Receipt.ACCEPTED:
                    self.log.append(bytes(data))
                elif receipt is Receipt.RESTARTED:
                    self.log.clear()
                async with self._changed:
                    self.heard.append(envelope)
                    self._changed.notify_all()
            if self.session.wants_configuration:
                await self.send(self.session.configuration(**self._settings))
            await self._pump()

    async def _pump(self) -> None:
        while (envelope := self.session.next_to_send()) is not None:
            await self.send(envelope)


async def knock(server: Server, user: str, conversation_id: str | None = None) -> dict[str, str]:
    """Ask to be let in, and again while the server says that it can't yet."""
    async with httpx2.AsyncClient(timeout=PATIENCE) as http, asyncio.timeout(PATIENCE):
        while True:
            answer = await http.post(
                f"{server.url}/api/v1/tokens",
                json={"conversationId": conversation_id},
                headers={"Authorization": f"Bearer {server.token(user)}"},
            )
            if answer.status_code != HTTPStatus.SERVICE_UNAVAILABLE:
                assert answer.status_code == HTTPStatus.CREATED, answer.text
                return answer.json()
            await asyncio.sleep(0.1)


@asynccontextmanager
async def device(
    server: Server,
    user: str,
    conversation_id: str | None = None,
    *,
    log: list[bytes] | None = None,
    from_head: bool = False,
    features: tuple[str, ...] = ("streaming",),
) -> AsyncGenerator[Device]:
    """Join a conversation, or a new one, and be up to date.

    `log` is what the device held before; `from_head` asks for nothing old.
    """
    door = await knock(server, user, conversation_id)
    room = rtc.Room()
    participant = Participant(room)
    if isinstance(server, Hearing):
        participant.is_heard = server.hears
    await room.connect(door["url"], door["token"], rtc.RoomOptions(auto_subscribe=False))
    try:
        await room.local_participant.set_attributes({"test": "1"})
        cursor = None if from_head else decode(log[-1]).stanza_id if log else 0
        session = ClientSession(ids.ConversationId(conversation_id or NEW_CONVERSATION), cursor)
        joined = Device(participant, session, {"features": list(features)})
        joined.log += log or []
        listening = participant.start(joined.listen())
        await joined.configure()
        await joined.until(lambda: any(each.type == 8 for each in joined.heard))
        yield joined
        if listening.done() and not listening.cancelled():
            listening.result()
    finally:
        await participant.leave()
