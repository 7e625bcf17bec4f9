"""Envelopes as bytes: encode, decode, and several to a packet.

Whatever a peer sends, `decode` gives an envelope that can be trusted in full or raises `RemoteProtocolError`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final, TypeAlias

import msgpack
import msgspec
from msgspec import Meta, Raw, Struct

from alicia import ids
from alicia.errors import ErrorCode, LocalProtocolError, RemoteProtocolError
from alicia.protocol import values
from alicia.protocol.messages import (
    BODIES,
    INT32_MAX,
    INT32_MIN,
    TRANSIENT,
    Body,
    Map,
    Tombstone,
)

MAX_BYTES: Final = 2**20
"""The largest envelope, and the largest packet; what is larger is refused with 105."""

PACKET_BYTES: Final = 60_000
"""What fits into one data packet and leaves room for the transport's own headers."""

MetaMap: TypeAlias = dict[Annotated[str, Meta(max_length=200)], Any]


class Envelope(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A body with its number. `previous_stanza_id` is set on durable agent stanzas and on no others."""

    stanza_id: int
    previous_stanza_id: int | None = None
    conversation_id: ids.ConversationId = ids.ConversationId("")
    type: int
    meta: Map | None = None
    body: Body | Tombstone

    @property
    def durable(self) -> bool:
        """Whether the agent stored this stanza and will replay it."""
        return self.previous_stanza_id is not None


class _Header(Struct, kw_only=True, rename="camel"):
    """An envelope whose body is still bytes, because only `type` says how to read them."""

    stanza_id: int
    previous_stanza_id: int | None = None
    conversation_id: ids.ConversationId = ids.ConversationId("")
    type: int
    meta: MetaMap | None = None
    body: Raw


_encode: Final = msgspec.msgpack.Encoder().encode
_decode_header: Final = msgspec.msgpack.Decoder(_Header).decode
_decode_tombstone: Final = msgspec.msgpack.Decoder(Tombstone).decode
_decode_fields: Final = msgspec.msgpack.Decoder(dict[str, Any]).decode
_DECODERS: Final = {code: (kind, msgspec.msgpack.Decoder(kind).decode) for code, kind in BODIES.items()}
_is_conversation_id: Final = re.compile(ids.pattern(ids.ConversationId)).match
# What msgspec raises on bad input; UnicodeDecodeError and its own errors are ValueErrors.
_BAD_INPUT: Final = (ValueError, RecursionError)


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
    if len(data) > MAX_BYTES:
        raise _too_large(data)
    try:
        header = _decode_header(data)
    except _BAD_INPUT as error:
        raise _bad_header(data, error) from None
    stanza_id = header.stanza_id
    if not INT32_MIN <= stanza_id <= INT32_MAX or stanza_id == 0:
        raise RemoteProtocolError(ErrorCode.STANZA, "`stanzaId` must be a 32-bit integer other than 0")
    try:
        body = _decode_body(data, header)
        _check(data, header, body)
    except RemoteProtocolError as error:
        error.stanza_id = stanza_id
        error.previous_stanza_id = header.previous_stanza_id if _is_durable(header) else None
        raise
    return Envelope(
        stanza_id=stanza_id,
        previous_stanza_id=header.previous_stanza_id,
        conversation_id=header.conversation_id,
        type=header.type,
        meta=header.meta,
        body=body,
    )


def _decode_body(data: bytes, header: _Header) -> Body | Tombstone:
    try:
        kind, decode_body = _DECODERS[header.type]
    except KeyError:
        raise RemoteProtocolError(ErrorCode.UNKNOWN_TYPE, f"there is no message type {header.type}") from None
    try:
        if kind.ALIASES and any(alias.encode() in data for alias in kind.ALIASES):
            return _decode_aliased(header.body, kind)
        return decode_body(header.body)
    except _BAD_INPUT as error:
        # A tombstone lacks the `conversationId` that every durable body must have, so it always ends up here.
        if _is_durable(header):
            try:
                return _decode_tombstone(header.body)
            except _BAD_INPUT:
                pass
        raise _bad(error) from None


def _decode_aliased(raw: Raw, kind: type[Body]) -> Body:
    fields = _decode_fields(raw)
    for alias, name in kind.ALIASES.items():
        if alias in fields:
            fields.setdefault(name, fields.pop(alias))
    return msgspec.convert(fields, kind)


def _check(data: bytes, header: _Header, body: Body | Tombstone) -> None:
    """What the types alone do not say."""
    if header.previous_stanza_id is not None and not (_is_durable(header) and type(body) not in TRANSIENT):
        raise _invalid(
            "`previousStanzaId` belongs on a durable stanza of the agent and names the one before it"
        )
    conversation_id = header.conversation_id
    if isinstance(body, Tombstone):
        if not _is_conversation_id(conversation_id):
            raise _invalid("`conversationId` must be a conversation's id")
    elif conversation_id != body.conversation_id:
        raise _invalid("`conversationId` must be the same in the envelope and in its body")
    elif not conversation_id and header.stanza_id < 0:
        raise _invalid("`conversationId` may be missing only from a client's Configuration")
    try:
        if header.meta is not None:
            values.check_map(header.meta)
        if isinstance(body, Body):
            for name in body.DYNAMIC:
                values.check(getattr(body, name))
        # Most envelopes hold no zero byte at all, and only then is there any text to search for NUL.
        if b"\0" in data:
            values.check_texts(body)
            values.check(header.meta)
    except values.Unstorable as error:
        raise _invalid(f"{error}") from None
    except RecursionError as error:
        raise _bad(error) from None


def _is_durable(header: _Header) -> bool:
    previous = header.previous_stanza_id
    return previous is not None and header.stanza_id < previous <= 0


def _invalid(message: str) -> RemoteProtocolError:
    return RemoteProtocolError(ErrorCode.INVALID_FIELD, message)


def _bad(error: Exception) -> RemoteProtocolError:
    """The peer's fault in the protocol's terms."""
    if isinstance(error, RecursionError):
        return _invalid(f"maps and lists must not nest more than {values.MAX_DEPTH} deep")
    if isinstance(error, UnicodeDecodeError):
        # UTF-8 has no surrogates; a peer whose strings are UTF-16 can still send half of a pair.
        if error.object[error.start] == 0xED:
            return _invalid("text must not contain lone surrogates")
        return RemoteProtocolError(ErrorCode.MALFORMED, "text must be UTF-8")
    if isinstance(error, msgspec.ValidationError):
        return _invalid(str(error))
    return RemoteProtocolError(ErrorCode.MALFORMED, f"this is not an envelope: {error}")


def _bad_header(data: bytes, error: Exception) -> RemoteProtocolError:
    if not data or not _is_map(data[0]):
        return RemoteProtocolError(ErrorCode.MALFORMED, "an envelope must be a MessagePack map")
    refusal = _bad(error)
    refusal.stanza_id = _peek_stanza_id(data)
    return refusal


def _too_large(data: bytes) -> RemoteProtocolError:
    message = f"an envelope holds at most {MAX_BYTES} bytes, this one has {len(data)}"
    return RemoteProtocolError(ErrorCode.TOO_LARGE, message, stanza_id=_peek_stanza_id(data[:MAX_BYTES]))


def _is_map(first_byte: int) -> bool:
    return 0x80 <= first_byte <= 0x8F or first_byte in (0xDE, 0xDF)


def _peek_stanza_id(data: bytes) -> int | None:
    """The stanza id of an envelope that is cut short or otherwise bad, if it stands before the damage."""
    unpacker = _unpacker(data)
    try:
        for _ in range(unpacker.read_map_header()):
            start = unpacker.tell()
            unpacker.skip()
            if data[start : unpacker.tell()] == b"\xa8stanzaId":
                start = unpacker.tell()
                unpacker.skip()
                stanza_id = msgspec.msgpack.decode(data[start : unpacker.tell()], type=int)
                return stanza_id if INT32_MIN <= stanza_id <= INT32_MAX and stanza_id else None
    except (ValueError, msgpack.UnpackException):
        pass
    return None


def _unpacker(data: bytes) -> msgpack.Unpacker:
    # Only its `skip` is used: it allocates nothing, whatever lengths the data claims.
    unpacker = msgpack.Unpacker(max_buffer_size=MAX_BYTES)
    unpacker.feed(data)
    return unpacker


def split(packet: bytes) -> Iterator[bytes]:
    """The envelopes of a packet in order, not yet decoded; RemoteProtocolError where no map begins."""
    if len(packet) > MAX_BYTES:
        raise _too_large(packet)
    unpacker = _unpacker(packet)
    start = 0
    while start < len(packet):
        try:
            if not _is_map(packet[start]):
                raise ValueError("an envelope must be a MessagePack map")
            unpacker.skip()
        except (ValueError, msgpack.UnpackException) as error:
            raise _bad_header(packet[start:], msgspec.DecodeError(str(error))) from None
        end = unpacker.tell()
        yield packet[start:end]
        start = end


def decode_packet(packet: bytes) -> list[Envelope | RemoteProtocolError]:
    """All envelopes of a packet in order; in place of a bad one, the error to answer it with.

    After an error without a stanza id the rest of the packet cannot be trusted and is left out.
    """
    try:
        return [decode(packet)]
    except RemoteProtocolError as error:
        if error.code not in (ErrorCode.MALFORMED, ErrorCode.INVALID_FIELD):
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
