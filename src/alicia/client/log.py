"""What a device knows of a conversation: the protocol's state machine, kept on disk."""

import logging

import msgspec

from alicia import ids
from alicia.client.errors import InvalidMessage
from alicia.client.events import Event, Hub, LogRestarted
from alicia.client.store import State, Store
from alicia.errors import AliciaError, ErrorCode, RemoteProtocolError
from alicia.protocol.client_session import ClientSession, Receipt
from alicia.protocol.envelope import Envelope, decode, decode_packet, encode
from alicia.protocol.messages import (
    FROM_CLIENT,
    Acknowledgement,
    Body,
    Configuration,
    ErrorMessage,
    Map,
    subject,
)

log = logging.getLogger(__name__)


class Log:
    """Takes the agent's packets and the application's bodies; publishes what is new, each once."""

    def __init__(self, store: Store, hub: Hub, conversation_id: str | None, *, history: bool) -> None:
        self._store = store
        self._hub = hub
        self._history = history
        self.entries: list[Envelope] = []
        """The whole log, if it was asked for."""
        self.changed = False
        """Whether the disk lags behind; losing that only means hearing something again."""
        self._head: int | None = None
        self._configuration: Configuration | None = None
        kept = store.state
        known = ids.ConversationId(conversation_id or kept.conversation_id)
        # One that nothing was written for may have become another program's.
        self._given = kept.given if store.count() else ""
        self._draft = ids.new(ids.ConversationId)
        """Stands for the conversation's id in what is written before there is one."""
        self._drafts: list[tuple[Body, Map | None]] = []
        self.session = ClientSession(known, 0 if history or not known else kept.cursor)
        self.session.clock = max(self.session.clock, kept.clock)
        for data in store.outbox():
            envelope = decode(data)
            if isinstance(envelope.body, Body):
                self._queue(envelope.body, envelope.meta)

    @property
    def caught_up(self) -> bool:
        """Whether it holds all that there was when the agent last answered a Configuration."""
        cursor = self.session.cursor
        return self._head is not None and cursor is not None and cursor <= self._head

    def ask_for_head(self) -> None:
        """A Configuration is being sent: until it is answered nobody knows what there is."""
        self._head = None

    @property
    def id(self) -> str:
        """The conversation's id, or the one that it will have; empty while the server has given none."""
        return self.session.conversation_id or self._given

    def give(self, conversation_id: str) -> None:
        """The server has given an id, by which an agent will open the conversation, or has done so."""
        if not self.opened and conversation_id != self._given:
            self._given = conversation_id
            self.save()

    @property
    def opened(self) -> bool:
        """Whether an agent knows of the conversation."""
        return bool(self.session.conversation_id)

    @property
    def outbox(self) -> tuple[Body, ...]:
        return (*self.session.outbox, *(body for body, _ in self._drafts))

    @property
    def address(self) -> ids.ConversationId:
        """What stands in bodies for this conversation."""
        return self.session.conversation_id or self._draft

    def submit(self, body: Body, meta: Map | None = None) -> None:
        """Keep a body until the agent confirms it; InvalidMessage if no agent would take it."""
        envelope = Envelope(stanza_id=1, conversation_id=self.address, type=body.CODE, meta=meta, body=body)
        try:
            data = encode(envelope)
            decode(data)
        except AliciaError as error:
            raise InvalidMessage(f"This {type(body).__name__} can't be sent: {error}") from error
        if type(body) not in FROM_CLIENT or isinstance(body, Configuration):
            raise InvalidMessage(f"A client can't send a {type(body).__name__}.")
        self._store.append(data)
        self._queue(body, meta)

    def _queue(self, body: Body, meta: Map | None) -> None:
        if self.opened:
            self.session.submit(msgspec.structs.replace(body, conversation_id=self.address), meta)
        else:
            self._drafts.append((body, meta))

    def take(self, packet: bytes) -> bool:
        """Take a packet of the agent's; true if the agent's Configuration was in it."""
        configured = False
        for item in decode_packet(packet):
            if isinstance(item, RemoteProtocolError):
                log.warning("unreadable stanza", extra={"stanza_id": item.stanza_id, "reason": item.message})
                self.session.skip(item)
                continue
            before = self.session.outbox
            try:
                receipt = self.session.receive(item)
            except RemoteProtocolError as error:
                log.warning("stray stanza", extra={"stanza_id": item.stanza_id, "reason": error.message})
                continue
            self._confirm(before)
            if isinstance(item.body, Configuration):
                configured = True
                self._head = item.body.last_server_stanza_id or 0
                self._open()
            self._publish(item, receipt, before)
        self.changed = True
        return configured

    def _confirm(self, before: tuple[Body, ...]) -> None:
        confirmed = len(before) - len(self.session.outbox)
        if confirmed:
            self.save(confirmed)

    def _open(self) -> None:
        """The conversation has its id: what was written before goes there."""
        drafts, self._drafts = self._drafts, []
        for body, meta in drafts:
            self._queue(body, meta)
        if not self._store.state.conversation_id:
            self.save()
            self._store.rename(self.session.conversation_id)

    def _publish(self, envelope: Envelope, receipt: Receipt, before: tuple[Body, ...]) -> None:
        body: Event = envelope.body
        if receipt is Receipt.RESTARTED:
            self.entries.clear()
            self._hub.publish(LogRestarted())
        if receipt is Receipt.ACCEPTED:
            if self._history:
                self.entries.append(envelope)
            self._hub.publish(body, envelope.previous_stanza_id)
        elif not envelope.durable and not self._is_routine(body):
            if isinstance(body, ErrorMessage) and len(before) > len(self.session.outbox):
                # An agent that could not read a body can't name it either, but we know which one it was.
                body = msgspec.structs.replace(body, originating_id=subject(before[0]))
            self._hub.publish(body)

    def _is_routine(self, body: Event) -> bool:
        """Whether it only keeps both ends in step and means nothing to an application."""
        match body:
            case Acknowledgement():
                return body.acknowledged_stanza_id == 0
            case ErrorMessage():
                return body.code == ErrorCode.STANZA
            case Configuration():
                # It was asked for until it came, so it may come more than once.
                again, self._configuration = self._configuration == body, body
                return again
            case _:
                return False

    def save(self, confirmed: int = 0) -> None:
        """Bring the disk up to what the application has handled."""
        state = State(
            device=self._store.state.device,
            conversation_id=self.session.conversation_id,
            given=self._given,
            cursor=self._hub.handled_cursor(self.session.cursor),
            clock=self.session.clock,
        )
        if confirmed or state != self._store.state:
            self._store.save(state, confirmed=confirmed)
        self.changed = False
