"""The client's end of a conversation: the cursor into the agent's log, and the outbox."""

from base64 import b64decode, b64encode
from enum import Enum, auto
from typing import Any, Final, Self

from alicia.errors import ErrorCode, RemoteProtocolError
from alicia.ids import ConversationId
from alicia.protocol.envelope import Envelope, decode, encode
from alicia.protocol.messages import (
    Acknowledgement,
    Body,
    Configuration,
    ErrorMessage,
    Map,
    Tombstone,
    UserMessage,
    subject,
)
from alicia.protocol.session import Session, identity

NEW_CONVERSATION: Final = ConversationId("")


class Receipt(Enum):
    """What became of an envelope that the client received."""

    ACCEPTED = auto()
    """The next durable stanza: append it to the log."""
    DUPLICATE = auto()
    """A durable stanza that the log holds already: drop it."""
    GAP = auto()
    """Something before it is missing: drop it; `wants_configuration` says when to ask."""
    TRANSIENT = auto()
    """Not part of the log; its body may be of interest."""
    RESTARTED = auto()
    """The agent does not know the client's log: empty it, the whole log follows."""


class ClientSession(Session):
    """One device's end. `cursor` is the last durable agent stanza that its log holds.

    None means that the device holds nothing and wants nothing old: it starts at the head. 0 asks for
    everything. An empty `conversation_id` opens a new conversation; the agent's Configuration fills it in.

    The caller sends what `configuration` gives after every join and reconnect and whenever
    `wants_configuration` is set, again if no answer comes; and after every step what `next_to_send` gives.
    """

    SIGN = 1

    def __init__(self, conversation_id: ConversationId = NEW_CONVERSATION, cursor: int | None = None) -> None:
        super().__init__(conversation_id, abs(cursor or 0))
        self.cursor = cursor
        self.wants_configuration = True
        self._asked = False
        self._outbox: list[tuple[Body, Map | None]] = []
        self._in_flight: Envelope | None = None
        self._sent = False

    @property
    def outbox(self) -> tuple[Body, ...]:
        """The bodies that the agent has not confirmed yet, oldest first."""
        return tuple(body for body, _ in self._outbox)

    def configuration(self, **settings: Any) -> Envelope:
        """The Configuration to send now, with the cursor; `settings` are its other fields."""
        self.wants_configuration = False
        self._asked = True
        self._sent = False
        body = Configuration(conversation_id=self.conversation_id, last_sequence_seen=self.cursor, **settings)
        return self.stamp(body)

    def submit(self, body: Body, meta: Map | None = None) -> None:
        """Put a body into the outbox; it stays there until the agent confirms or refuses it."""
        self._outbox.append((body, meta))

    def next_to_send(self) -> Envelope | None:
        """The body in flight, if it has to be sent now; None while it waits for its acknowledgement."""
        if self._sent or not self._outbox or not self.conversation_id:
            return None
        if self._in_flight is None:
            self._in_flight = self.stamp(*self._outbox[0])
        self._sent = True
        return self._in_flight

    def resend(self) -> None:
        """Send the body in flight again, because its answer is overdue or said to try later."""
        self._sent = False

    def receive(self, envelope: Envelope) -> Receipt:
        """Take an envelope of the agent's; only ACCEPTED ones belong into the log."""
        stanza_id = envelope.stanza_id
        if stanza_id > 0:
            raise RemoteProtocolError(ErrorCode.STANZA, "a client obeys only the agent", stanza_id=stanza_id)
        self.conversation_id = self.conversation_id or envelope.conversation_id
        if envelope.conversation_id != self.conversation_id:
            raise RemoteProtocolError(
                ErrorCode.INVALID_FIELD, "this belongs to another conversation", stanza_id=stanza_id
            )
        self._observe(stanza_id)
        body = envelope.body
        if envelope.previous_stanza_id is not None:
            self._hear_echo(envelope)
            return self._follow(stanza_id, envelope.previous_stanza_id)
        if isinstance(body, Configuration):
            return self._hear_configuration(body)
        if isinstance(body, Acknowledgement):
            return self._hear_acknowledgement(body)
        if isinstance(body, ErrorMessage):
            self._hear_error(body)
        return Receipt.TRANSIENT

    def skip(self, error: RemoteProtocolError) -> Receipt:
        """Pass over an envelope that `decode` refused, so that one unreadable stanza cannot stop the log."""
        if error.stanza_id is None or error.previous_stanza_id is None:
            return Receipt.TRANSIENT
        self._observe(error.stanza_id)
        return self._follow(error.stanza_id, error.previous_stanza_id)

    def _follow(self, stanza_id: int, previous: int) -> Receipt:
        if previous == self.cursor:
            self.cursor = stanza_id
            return Receipt.ACCEPTED
        if self.cursor is not None and stanza_id >= self.cursor:
            return Receipt.DUPLICATE
        # While an answer is on its way, stanzas that were sent before it are no reason to ask again.
        self.wants_configuration = self.wants_configuration or not self._asked
        return Receipt.GAP

    def _hear_configuration(self, body: Configuration) -> Receipt:
        head = body.last_server_stanza_id or 0
        self._observe(head)
        self._observe(body.last_client_stanza_id or 0)
        asked, self._asked = self._asked, False
        if self.cursor is None:
            self.cursor = head
        elif body.resumed is False and asked and self.cursor != 0:
            self.cursor = 0
            return Receipt.RESTARTED
        return Receipt.TRANSIENT

    def _hear_acknowledgement(self, body: Acknowledgement) -> Receipt:
        sent = self._in_flight
        if (
            sent is not None
            and sent.stanza_id == body.acknowledged_stanza_id
            and isinstance(sent.body, Body)
            and body.id in (None, subject(sent.body))
        ):
            self._settle()
        if self.cursor is None or body.last_server_stanza_id < self.cursor:
            self.wants_configuration = True
            return Receipt.GAP
        return Receipt.TRANSIENT

    def _hear_error(self, body: ErrorMessage) -> None:
        self._observe((body.next_stanza_id or 1) - 1)
        sent = self._in_flight
        if sent is None or body.originating_stanza_id != sent.stanza_id:
            return
        if body.code == ErrorCode.STANZA:
            self._in_flight = None
            self._sent = False
        elif body.code < ErrorCode.TOO_MANY:
            # It will never be taken; in the outbox it would only bar the way for the others.
            self._settle()

    def _hear_echo(self, envelope: Envelope) -> None:
        if not self._outbox:
            return
        echo, sent = envelope.body, self._outbox[0][0]
        if isinstance(echo, Tombstone):
            ours = (envelope.type, echo.id) == (sent.CODE, subject(sent))
        else:
            renamed = (
                isinstance(echo, UserMessage) and isinstance(sent, UserMessage) and echo.local_id == sent.id
            )
            ours = renamed or identity(echo) == identity(sent)
        if ours:
            self._settle()

    def _settle(self) -> None:
        del self._outbox[0]
        self._in_flight = None
        self._sent = False

    def dump(self) -> Map:
        """All that must outlive the process, as plain data for JSON; save it before sending."""
        return {
            "conversationId": self.conversation_id,
            "cursor": self.cursor,
            "clock": self.clock,
            "inFlight": self._in_flight and self._in_flight.stanza_id,
            "outbox": [b64encode(encode(_numbered(1, *waiting))).decode() for waiting in self._outbox],
        }

    @classmethod
    def load(cls, data: Map) -> Self:
        """The session that `dump` described."""
        session = cls(data["conversationId"], data["cursor"])
        session.clock = data["clock"]
        for text in data["outbox"]:
            envelope = decode(b64decode(text))
            if isinstance(envelope.body, Body):
                session.submit(envelope.body, envelope.meta)
        if data["inFlight"] is not None:
            session._in_flight = _numbered(data["inFlight"], *session._outbox[0])
        return session


def _numbered(stanza_id: int, body: Body, meta: Map | None) -> Envelope:
    return Envelope(
        type=body.CODE, stanza_id=stanza_id, conversation_id=body.conversation_id, meta=meta, body=body
    )
