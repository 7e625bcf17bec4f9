"""An agent, two devices and a bad network, all in memory: what the state machines must survive."""

import json
from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from alicia import ids
from alicia.errors import RemoteProtocolError
from alicia.protocol.client_session import ClientSession, Receipt
from alicia.protocol.envelope import Envelope, decode, decode_packet, encode, pack
from alicia.protocol.messages import (
    AssistantSentence,
    Body,
    Configuration,
    ControlStop,
    ToolUseResult,
    Transcription,
    UserMessage,
    UserNote,
)
from alicia.protocol.session import AgentSession, Verdict, identity

CONVERSATION = ids.ConversationId("ac_" + "c" * ids.LENGTH)
CrashPoint = Literal["never", "before commit", "after commit", "after echo"]
PACKET = 1_500
"""Small packets, so that a replay takes several."""


def numbered(prefix: str, number: int) -> str:
    return f"{prefix}_{number:0{ids.LENGTH}}"


class Crash(Exception):
    """The agent's process is gone."""


@dataclass
class Database:
    """What survives the agent."""

    journal: list[bytes] = field(default_factory=list[bytes])
    stored: dict[tuple[object, ...], Body] = field(default_factory=dict[tuple[object, ...], Body])
    by_client_stanza: dict[int, Body] = field(default_factory=dict[int, Body])
    last_server_stanza_id: int = 0
    last_client_stanza_id: int = 0

    def commit(self, envelopes: list[Envelope], accepted: Envelope | None = None) -> None:
        for envelope in envelopes:
            assert envelope.previous_stanza_id == self.last_server_stanza_id, "fenced off"
            self.journal.append(encode(envelope))
            self.last_server_stanza_id = envelope.stanza_id
        if accepted is not None and isinstance(accepted.body, Body):
            self.stored[identity(accepted.body)] = accepted.body
            self.by_client_stanza[accepted.stanza_id] = accepted.body
            self.last_client_stanza_id = max(self.last_client_stanza_id, accepted.stanza_id)

    def knows(self, envelope: Envelope) -> bool:
        body = envelope.body
        if isinstance(body, ControlStop):
            return self.by_client_stanza.get(envelope.stanza_id) == body
        return isinstance(body, Body) and self.stored.get(identity(body)) == body

    def after(self, stanza_id: int) -> list[bytes]:
        return [data for data in self.journal if decode(data).stanza_id < stanza_id]


@dataclass
class Device:
    """A client, its log, and the two directions of its link."""

    session: ClientSession
    log: list[bytes] = field(default_factory=list[bytes])
    inbox: deque[bytes] = field(default_factory=deque[bytes])
    outgoing: deque[bytes] = field(default_factory=deque[bytes])
    submitted: list[Body] = field(default_factory=list[Body])

    def submit(self, body: Body) -> None:
        self.submitted.append(body)
        self.session.submit(body)
        self.act()

    def act(self) -> None:
        """Send what the session has to say."""
        if self.session.wants_configuration:
            self.join()
        while envelope := self.session.next_to_send():
            self.outgoing.append(encode(envelope))

    def join(self) -> None:
        self.outgoing.append(encode(self.session.configuration(device="test")))

    def receive(self, packet: bytes) -> None:
        for envelope in decode_packet(packet):
            assert isinstance(envelope, Envelope)
            receipt = self.session.receive(envelope)
            assert receipt is not Receipt.RESTARTED
            if receipt is Receipt.ACCEPTED:
                self.log.append(encode(envelope))
        self.act()

    def cut(self) -> None:
        """The link breaks, everything under way is lost, and the client joins again."""
        self.inbox.clear()
        self.outgoing.clear()
        self.join()
        self.act()

    def try_again(self) -> None:
        """An answer is overdue."""
        self.session.resend()
        self.act()

    def restart(self) -> None:
        """The process ends; what it had saved is all that is left."""
        self.session = ClientSession.load(json.loads(json.dumps(self.session.dump())))
        self.cut()


class World:
    """Everything, and the things that can happen to it."""

    def __init__(self) -> None:
        self.database = Database()
        self.devices = [Device(ClientSession(CONVERSATION, 0)) for _ in range(2)]
        self.count = 0
        self.start_agent()

    def start_agent(self) -> None:
        self.agent = AgentSession(
            CONVERSATION, self.database.last_server_stanza_id, self.database.last_client_stanza_id
        )
        self.up_to_date: list[Device] = []

    def fresh(self) -> int:
        self.count += 1
        return self.count

    def new_body(self, kind: int) -> Body:
        """What a user may send, never the same twice."""
        number = self.fresh()
        match kind:
            case 0:
                return UserMessage(
                    conversation_id=CONVERSATION, id=ids.MessageId(numbered("am", number)), content="hello"
                )
            case 1:
                return UserNote(
                    conversation_id=CONVERSATION, id=ids.NoteId(numbered("aucc", number)), content="well"
                )
            case 2:
                return ToolUseResult(
                    conversation_id=CONVERSATION,
                    request_id=ids.ToolUseId(numbered("atu", number)),
                    success=True,
                )
            case _:
                return ControlStop(
                    conversation_id=CONVERSATION,
                    target_id=ids.MessageId(numbered("am", 1)),
                    stop_type="all",
                    reason=f"reason {number}",
                )

    def publish(self, envelopes: list[Envelope], devices: list[Device]) -> None:
        for packet in pack(map(encode, envelopes), PACKET):
            for device in devices:
                device.inbox.append(packet)

    def answer(self, sentences: int, crash: CrashPoint = "never") -> None:
        """The agent says something by itself."""
        bodies = [
            AssistantSentence(
                conversation_id=CONVERSATION,
                id=ids.SentenceId(numbered("ams", self.fresh())),
                previous_id=ids.MessageId(numbered("am", 1)),
                sequence=number,
                text="I see.",
                is_final=False,
            )
            for number in range(sentences)
        ]
        envelopes = self.agent.stamp_durable([(body, None) for body in bodies])
        self.store(envelopes, None, crash)

    def store(self, envelopes: list[Envelope], accepted: Envelope | None, crash: CrashPoint) -> None:
        try:
            if crash == "before commit":
                raise Crash
            self.database.commit(envelopes, accepted)
            if crash == "after commit":
                raise Crash
            self.agent.committed(envelopes, accepted)
            self.publish(envelopes, self.up_to_date)
            if crash == "after echo":
                raise Crash
        except Crash:
            self.start_agent()
            raise

    def fail_to_commit(self) -> None:
        """The database refuses for once: the numbers are lost, the agent goes on."""
        self.agent.stamp_durable([(self.new_body(0), None)])

    def murmur(self) -> None:
        """The agent says something that nobody has to keep."""
        body = Transcription(
            conversation_id=CONVERSATION, id=ids.AudioId(numbered("aa", 1)), text="he", final=False
        )
        self.publish([self.agent.stamp(body)], self.up_to_date)

    def state_head(self) -> None:
        """The agent knows from LiveKit who is in the room, whether or not they are up to date."""
        self.publish([self.agent.head()], self.devices)

    def agent_takes(self, device: Device, packet: bytes, crash: CrashPoint = "never") -> None:
        for envelope in decode_packet(packet):
            assert isinstance(envelope, Envelope)
            try:
                verdict = self.agent.accept(envelope, self.database.knows(envelope))
                if isinstance(envelope.body, Configuration):
                    self.welcome(device, envelope.body)
                elif verdict is Verdict.NEW and isinstance(envelope.body, Body):
                    echo = self.agent.stamp_durable([(envelope.body, envelope.meta)])
                    self.store(echo, envelope, crash)
                    self.publish([self.agent.acknowledge(envelope)], [device])
                else:
                    assert verdict is Verdict.REDELIVERY
                    self.publish([self.agent.acknowledge(envelope)], [device])
            except RemoteProtocolError as error:
                self.publish([self.agent.refuse(error, envelope)], [device])
            except Crash:
                return

    def welcome(self, device: Device, body: Configuration) -> None:
        resume = self.agent.resume(body.last_sequence_seen)
        assert resume.resumed
        missed = self.database.after(resume.after)
        answer = Configuration(
            conversation_id=CONVERSATION,
            resumed=True,
            missed=len(missed),
            last_client_stanza_id=self.agent.last_client_stanza_id,
            last_server_stanza_id=self.agent.last_server_stanza_id,
        )
        self.publish([self.agent.stamp(answer)], [device])
        device.inbox.extend(pack(missed, PACKET))
        self.publish([self.agent.head()], [device])
        if device not in self.up_to_date:
            self.up_to_date.append(device)

    def settle(self) -> None:
        """The network is good again: overdue bodies go out again, and the head is stated."""
        for _ in range(100):
            for device in self.devices:
                device.try_again()
            self.deliver()
            self.state_head()
            self.deliver()
            if all(
                device.log == self.database.journal and not device.session.outbox for device in self.devices
            ):
                return
        raise AssertionError("the conversation never came to rest")

    def deliver(self) -> None:
        """Carry everything to its end, answers and their answers too."""
        for _ in range(1_000):
            for device in self.devices:
                while device.outgoing:
                    self.agent_takes(device, device.outgoing.popleft())
                while device.inbox:
                    device.receive(device.inbox.popleft())
            if not any(device.outgoing or device.inbox for device in self.devices):
                return
        raise AssertionError("the two sides never stop talking")

    def check_at_rest(self) -> None:
        stored = [decode(data).body for data in self.database.journal]
        for device in self.devices:
            assert device.log == self.database.journal
            assert device.session.cursor == self.database.last_server_stanza_id
            assert device.session.outbox == ()
            for body in device.submitted:
                assert stored.count(body) == 1
            mine = [body for body in stored if body in device.submitted]
            assert mine == device.submitted, "a device's bodies keep their order"
