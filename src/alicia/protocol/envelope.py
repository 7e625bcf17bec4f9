"""Envelopes as bytes: encode, decode, and several to a packet.

Whatever a peer sends, `decode` gives an envelope that can be trusted in full or raises `RemoteProtocolError`.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Generic, TypeAlias

import msgpack
import msgspec
from msgspec import Struct
from typing_extensions import TypeVar

from alicia import ids
from alicia.errors import ErrorCode, LocalProtocolError, RemoteProtocolError
from alicia.protocol.careful import BAD_INPUT, MAX_BYTES, bad_header, is_map, read, too_large, unpacker
from alicia.protocol.fields import FIELDS, id_check, text_of
from alicia.protocol.messages import BODIES, TRANSIENT, Body, Map, MemoryTrace, StanzaId, Tombstone
from alicia.protocol.values import MAX_KEY

PACKET_BYTES: Final = 60_000
"""What fits into one data packet and leaves room for the transport's own headers."""

B_co = TypeVar("B_co", bound=Body | Tombstone, default=Body | Tombstone, covariant=True)


class Envelope(Struct, Generic[B_co], frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A body with its number. `previous_stanza_id` is set on durable agent stanzas and on no others."""

    # The type comes first so that it stands at a known place in the bytes.
    type: int
    stanza_id: StanzaId
    previous_stanza_id: StanzaId | None = None
    conversation_id: ids.ConversationId = ids.ConversationId("")
    meta: Map | None = None
    body: B_co

    @property
    def durable(self) -> bool:
        """Whether the agent stored this stanza and will replay it."""
        return self.previous_stanza_id is not None


_Decode: TypeAlias = Callable[[bytes], Envelope[Body]]
_Check: TypeAlias = Callable[[Any], object]
_Reader: TypeAlias = tuple[_Decode, _Check, bool, Callable[[Any], str], bool]


def _check(kind: type[Body]) -> _Check:
    ids_are_good = id_check(kind)
    if kind is not MemoryTrace:
        return ids_are_good
    # Without `confidence` it may have `relevance` instead, which only the careful decoder knows.
    return lambda trace: trace.confidence is not None and ids_are_good(trace)


def _reader(kind: type[Body]) -> _Reader:
    """How to read envelopes of one type fast: a decoder, and what must be checked beyond the types."""
    # Envelope[kind] decodes to plain Envelopes whose body has its type: one pass in C.
    decoder = msgspec.msgpack.Decoder(Envelope[kind])
    return decoder.decode, _check(kind), kind not in TRANSIENT, text_of(kind), bool(FIELDS[kind].nested)


_READERS: Final = {code: _reader(kind) for code, kind in BODIES.items()}
_TYPE_AT: Final = 6
"""Where our own encoder puts the type: after the map's first byte and the key."""

_encode: Final = msgspec.msgpack.Encoder().encode
_to_json: Final = msgspec.json.Encoder().encode


def encode(envelope: Envelope) -> bytes:
    """The envelope's bytes. It is ours, so whatever stands in the way is a LocalProtocolError."""
    try:
        data = _encode(envelope)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise LocalProtocolError(f"this envelope cannot be encoded: {error}") from error
    if len(data) > MAX_BYTES:
        raise LocalProtocolError(f"an envelope holds at most {MAX_BYTES} bytes, this one has {len(data)}")
    return data


def decode(data: bytes) -> Envelope:
    """One envelope, checked in full; RemoteProtocolError says what is wrong with it."""
    try:
        code = data[_TYPE_AT]
        decode_typed, is_good, may_be_durable, text_of_body, has_nested = _READERS[code]
        envelope = decode_typed(data)
    except (LookupError, *BAD_INPUT):
        return decode_carefully(data)
    stanza_id, previous, body = envelope.stanza_id, envelope.previous_stanza_id, envelope.body
    conversation_id = envelope.conversation_id
    if (
        # The type was a guess from one byte; that the whole agrees with it makes it certain.
        envelope.type == code
        and (stanza_id if previous is None else stanza_id < previous <= 0 and may_be_durable)
        and conversation_id == body.conversation_id
        and (conversation_id or stanza_id > 0)
        and is_good(body)
        and (len(data) <= MAX_KEY or _is_modest(data, envelope.meta))
        # Zero bytes are rare; where there is one, it may be part of a number or a NUL in a text.
        and (0 not in data or not _has_nul(envelope, text_of_body, has_nested))
    ):
        return envelope
    return decode_carefully(data)


def _is_modest(data: bytes, meta: Map | None) -> bool:
    return len(data) <= MAX_BYTES and (not meta or max(map(len, meta)) <= MAX_KEY)


def _has_nul(envelope: Envelope, text_of_body: Callable[[Any], str], has_nested: bool) -> bool:
    if has_nested or envelope.meta is not None:
        # JSON shows every NUL, and msgspec writes it faster than Python could look. (So does it a backslash
        # before "u0000", but that is rarer still, and the careful decoder knows the difference.)
        return b"\\u0000" in _to_json(envelope)
    return "\0" in text_of_body(envelope.body)


def decode_carefully(data: bytes) -> Envelope:
    """The same as `decode`, always by the slow way."""
    header, body = read(data)
    return Envelope(
        type=header.type,
        stanza_id=header.stanza_id,
        previous_stanza_id=header.previous_stanza_id,
        conversation_id=header.conversation_id,
        meta=header.meta,
        body=body,
    )


def split(packet: bytes) -> Iterator[bytes]:
    """The envelopes of a packet in order, not yet decoded; RemoteProtocolError where no map begins."""
    if len(packet) > MAX_BYTES:
        raise too_large(packet)
    cursor = unpacker(packet)
    start = 0
    while start < len(packet):
        try:
            if not is_map(packet[start]):
                raise ValueError("an envelope must be a MessagePack map")
            cursor.skip()
        except (ValueError, msgpack.UnpackException) as error:
            raise bad_header(packet[start:], msgspec.DecodeError(str(error))) from None
        end = cursor.tell()
        yield packet[start:end]
        start = end


def decode_packet(packet: bytes) -> list[Envelope | RemoteProtocolError]:
    """All envelopes of a packet in order; in place of a bad one, the error to answer it with.

    After an error without a stanza id the rest of the packet cannot be trusted and is left out.
    """
    try:
        return [decode(packet)]
    except RemoteProtocolError as error:
        if not packet or error.code not in (ErrorCode.MALFORMED, ErrorCode.INVALID_FIELD):
            return [error]
    items: list[Envelope | RemoteProtocolError] = []
    try:
        for data in split(packet):
            try:
                items.append(decode(data))
            except RemoteProtocolError as error:
                if error.stanza_id is None:
                    raise
                items.append(error)
    except RemoteProtocolError as error:
        items.append(error)
    return items


def pack(envelopes: Iterable[bytes], limit: int = PACKET_BYTES) -> Iterator[bytes]:
    """Join encoded envelopes, in order, into packets of at most `limit` bytes.

    An envelope that is longer than that alone makes a packet of its own, which must travel as a byte stream.
    """
    waiting: list[bytes] = []
    size = 0
    for envelope in envelopes:
        if waiting and size + len(envelope) > limit:
            yield b"".join(waiting)
            waiting.clear()
            size = 0
        waiting.append(envelope)
        size += len(envelope)
    if waiting:
        yield b"".join(waiting)
