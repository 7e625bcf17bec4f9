"""The state machine at each end of a conversation: who says what with which number.

Both ends share one Lamport clock: each keeps the largest absolute stanza id it has sent or seen, and its next
stanza is that plus one, with its own sign. Nothing here reads a clock, draws a random number or does I/O.
"""

from collections.abc import Iterable, Sequence
from enum import Enum, auto
from typing import ClassVar, Final, NamedTuple

from alicia.errors import ErrorCode, LocalProtocolError, RemoteProtocolError
from alicia.ids import ConversationId
from alicia.protocol.envelope import Envelope, decode, encode
from alicia.protocol.messages import (
    FROM_CLIENT,
    INT32_MAX,
    Acknowledgement,
    Body,
    Configuration,
    ErrorMessage,
    Map,
    SyncStatus,
    subject,
)

WINDOW: Final = 65_536
"""How far above the clock a client's stanza may be; a farther one would only burn numbers."""


class Session:
    """What both ends share: the conversation and the clock."""

    SIGN: ClassVar[int]

    def __init__(self, conversation_id: ConversationId, clock: int) -> None:
        self.conversation_id = conversation_id
        self.clock = clock

    def stamp(self, body: Body, meta: Map | None = None) -> Envelope:
        """Give a body the next number. From an agent this makes a transient stanza."""
        return Envelope(
            stanza_id=self._tick(),
            conversation_id=body.conversation_id,
            type=body.CODE,
            meta=meta,
            body=body,
        )

    def _tick(self) -> int:
        if self.clock >= INT32_MAX:
            raise LocalProtocolError("this conversation has used up its stanza ids; go on in a new one")
        self.clock += 1
        return self.SIGN * self.clock

    def _observe(self, stanza_id: int) -> None:
        self.clock = max(self.clock, abs(stanza_id))


class Verdict(Enum):
    """What the agent is to do with a client's envelope."""

    NEW = auto()
    """Store it, then tell `committed`; if that fails for good, tell `release`."""
    REDELIVERY = auto()
    """It is stored already: acknowledge it again."""
    PENDING = auto()
    """It is being stored right now: its acknowledgement is on the way."""


class Resume(NamedTuple):
    """Where to replay from, and whether that continues what the client holds."""

    resumed: bool
    after: int


def identity(body: Body) -> tuple[object, ...]:
    """Equal for two deliveries of one body, and for a body and its echo."""
    extra = [getattr(body, name, None) for name in ("stop_type", "reason", "sequence")]
    return (body.CODE, subject(body), *extra)


class AgentSession(Session):
    """The agent's end, made from the conversation's row, so that a restarted agent goes on."""

    SIGN = -1

    def __init__(
        self, conversation_id: ConversationId, last_server_stanza_id: int = 0, last_client_stanza_id: int = 0
    ) -> None:
        super().__init__(conversation_id, max(abs(last_server_stanza_id), last_client_stanza_id))
        self.last_server_stanza_id = last_server_stanza_id
        self.last_client_stanza_id = last_client_stanza_id
        self._pending: dict[int, tuple[object, ...]] = {}

    def stamp_durable(self, bodies: Iterable[tuple[Body, Map | None]]) -> list[Envelope]:
        """Number bodies that are about to be stored together, each naming the durable stanza before it.

        The clock moves at once, the head only with `committed`: after a failure the numbers are lost, or used
        when the same envelopes are stored after all. What a client would refuse is refused here.
        """
        previous = self.last_server_stanza_id
        envelopes: list[Envelope] = []
        for body, meta in bodies:
            envelope = Envelope(
                stanza_id=self._tick(),
                previous_stanza_id=previous,
                conversation_id=self.conversation_id,
                type=body.CODE,
                meta=meta,
                body=body,
            )
            _must_be_readable(envelope)
            envelopes.append(envelope)
            previous = envelope.stanza_id
        return envelopes

    def committed(self, envelopes: Sequence[Envelope], accepted: Envelope | None = None) -> None:
        """These envelopes are stored, and with them the client's `accepted` one that caused them, if any."""
        head = self.last_server_stanza_id
        for envelope in envelopes:
            if envelope.previous_stanza_id != head:
                raise LocalProtocolError(f"stanza {envelope.stanza_id} does not follow the head, {head}")
            head = envelope.stanza_id
        self.last_server_stanza_id = head
        self._observe(head)
        if accepted is not None:
            self.release(accepted)
            self.last_client_stanza_id = max(self.last_client_stanza_id, accepted.stanza_id)

    def release(self, accepted: Envelope) -> None:
        """A client's envelope was accepted but will not be stored: its number and its body may come again."""
        self._pending.pop(accepted.stanza_id, None)

    def accept(self, envelope: Envelope, known: bool) -> Verdict:
        """Judge a client's envelope; `known` says that its body is stored already with the same content."""
        stanza_id, body = envelope.stanza_id, envelope.body
        if stanza_id < 0:
            raise self._wrong_number(stanza_id, "a client's stanza ids are positive")
        if type(body) not in FROM_CLIENT or not isinstance(body, Body):
            raise RemoteProtocolError(
                ErrorCode.INVALID_FIELD,
                f"type {envelope.type} comes from the agent only",
                stanza_id=stanza_id,
            )
        opening = isinstance(body, Configuration)
        if envelope.conversation_id != self.conversation_id and (envelope.conversation_id or not opening):
            raise RemoteProtocolError(
                ErrorCode.NOT_FOUND, "this conversation does not exist here", stanza_id=stanza_id
            )
        near = stanza_id <= self.clock + WINDOW
        if opening or known:
            if near:
                self._observe(stanza_id)
            return Verdict.NEW if opening else Verdict.REDELIVERY
        if identity(body) in self._pending.values():
            return Verdict.PENDING
        if stanza_id <= self.last_client_stanza_id or stanza_id in self._pending or not near:
            raise self._wrong_number(stanza_id, f"stanza {stanza_id} is taken or too far ahead")
        self._pending[stanza_id] = identity(body)
        self._observe(stanza_id)
        return Verdict.NEW

    def _wrong_number(self, stanza_id: int, message: str) -> RemoteProtocolError:
        return RemoteProtocolError(
            ErrorCode.STANZA, message, stanza_id=stanza_id, next_stanza_id=min(self.clock + 1, INT32_MAX)
        )

    def resume(self, last_sequence_seen: int | None, known: bool = True) -> Resume:
        """Where a client that sent this Configuration field goes on.

        `known` is False when the journal has no such stanza: what the client holds is another history.
        """
        if last_sequence_seen is None:
            return Resume(True, self.last_server_stanza_id)
        if not known or not self.last_server_stanza_id <= last_sequence_seen <= 0:
            return Resume(False, 0)
        return Resume(True, last_sequence_seen)

    def acknowledge(
        self, accepted: Envelope, server_id: str | None = None, sync_status: SyncStatus | None = None
    ) -> Envelope:
        """What tells the sender that its envelope is stored. Publish the echo first: this names the head."""
        return self._acknowledgement(accepted.stanza_id, _subject(accepted), server_id, sync_status)

    def head(self) -> Envelope:
        """The head's statement, by which a device notices that it has lost the tail."""
        return self._acknowledgement(0, None, None, None)

    def _acknowledgement(
        self, stanza_id: int, subject_id: str | None, server_id: str | None, sync_status: SyncStatus | None
    ) -> Envelope:
        body = Acknowledgement(
            conversation_id=self.conversation_id,
            acknowledged_stanza_id=stanza_id,
            last_server_stanza_id=self.last_server_stanza_id,
            id=subject_id,
            server_id=server_id,
            sync_status=sync_status,
        )
        return self.stamp(body)

    def refuse(self, error: RemoteProtocolError, refused: Envelope | None = None) -> Envelope:
        """The ErrorMessage that answers a peer's mistake."""
        body = ErrorMessage(
            conversation_id=self.conversation_id,
            code=error.code,
            message=error.message,
            severity="error",
            recoverable=True,
            originating_id=_subject(refused) if refused else None,
            originating_stanza_id=error.stanza_id,
            next_stanza_id=error.next_stanza_id,
        )
        return self.stamp(body)


def _subject(envelope: Envelope) -> str | None:
    return subject(envelope.body) if isinstance(envelope.body, Body) else envelope.body.id


def _must_be_readable(envelope: Envelope) -> None:
    # A durable stanza that a client refuses would stop that client for good.
    try:
        decode(encode(envelope))
    except RemoteProtocolError as error:
        raise LocalProtocolError(
            f"no client would accept this {type(envelope.body).__name__}: {error}"
        ) from error
