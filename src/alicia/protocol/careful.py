"""The careful decoder: it takes any bytes apart step by step and says exactly what is wrong with them.

`envelope.decode` comes here with all that its fast path does not recognise at once: envelopes of other
encoders, deeply nested values, other spellings, tombstones, and mistakes.
"""

import re
from typing import Any, Final, Literal, cast

import msgpack
import msgspec
from msgspec import Raw, Struct

from alicia import ids
from alicia.errors import ErrorCode, RemoteProtocolError
from alicia.protocol import values
from alicia.protocol.fields import bad_id
from alicia.protocol.messages import BODIES, INT32_MAX, INT32_MIN, TRANSIENT, Body, Name, Tombstone

MAX_BYTES: Final = 2**20
"""The largest envelope, and the largest packet; what is larger is refused with 105."""

# All that msgspec raises on bad input: its own errors and UnicodeDecodeError are ValueErrors.
BAD_INPUT: Final = (ValueError, RecursionError)


class Header(Struct, kw_only=True, rename="camel"):
    """An envelope whose body is still bytes, because only `type` says how to read them."""

    type: int
    stanza_id: int
    previous_stanza_id: int | None = None
    conversation_id: ids.ConversationId = ids.ConversationId("")
    meta: dict[str, Any] | None = None
    body: Raw

    @property
    def durable(self) -> bool:
        previous = self.previous_stanza_id
        return previous is not None and self.stanza_id < previous <= 0


class _Erased(Struct):
    """A tombstone's body; without the mark, any broken body with an id would pass for one."""

    id: Name
    erased: Literal[True]


_encode: Final = msgspec.msgpack.Encoder().encode
_decode_header: Final = msgspec.msgpack.Decoder(Header).decode
_DECODERS: Final = {kind: msgspec.msgpack.Decoder(kind).decode for kind in BODIES.values()}
_decode_fields: Final = msgspec.msgpack.Decoder(dict[str, Any]).decode
_decode_erased: Final = msgspec.msgpack.Decoder(_Erased).decode
_ALIASED: Final = {
    kind: [field.name for field in msgspec.structs.fields(kind) if field.encode_name in kind.ALIASES.values()]
    for kind in BODIES.values()
}
_is_conversation_id: Final = re.compile(ids.pattern(ids.ConversationId)).fullmatch


def read(data: bytes) -> tuple[Header, Body | Tombstone]:
    """The envelope's header and its body, both checked in full, or RemoteProtocolError."""
    if len(data) > MAX_BYTES:
        raise too_large(data)
    try:
        header = _decode_header(data)
    except BAD_INPUT as error:
        raise bad_header(data, error) from None
    if not _is_stanza_id(header.stanza_id):
        raise RemoteProtocolError(ErrorCode.STANZA, "`stanzaId` must be a 32-bit integer other than 0")
    try:
        return header, _read_body(header)
    except RemoteProtocolError as error:
        error.stanza_id = header.stanza_id
        error.previous_stanza_id = header.previous_stanza_id if header.durable else None
        raise


def _read_body(header: Header) -> Body | Tombstone:
    kind = BODIES.get(header.type)
    if kind is None:
        raise RemoteProtocolError(ErrorCode.UNKNOWN_TYPE, f"there is no message type {header.type}")
    if header.previous_stanza_id is not None and (not header.durable or kind in TRANSIENT):
        raise _invalid(
            "`previousStanzaId` belongs on a durable stanza of the agent and names the one before it"
        )
    try:
        if header.meta is not None:
            values.check(header.meta)
            values.check_keys(header.meta)
        body = _read_tombstone(header) or _decode_body(kind, header.body)
        for name in body.__struct_fields__:
            value = getattr(body, name)
            if type(value) is not bytes or name in kind.DYNAMIC:
                values.check(value)
    except values.Unstorable as error:
        raise _invalid(str(error)) from None
    except BAD_INPUT as error:
        raise _bad(error) from None
    _check_ids(header, body)
    return body


def _read_tombstone(header: Header) -> Tombstone | None:
    try:
        return Tombstone(id=_decode_erased(header.body).id) if header.durable else None
    except BAD_INPUT:
        return None


def _decode_body(kind: type[Body], raw: Raw) -> Body:
    decode = _DECODERS[kind]
    try:
        body = decode(raw)
        if all(getattr(body, name) is not None for name in _ALIASED[kind]):
            return body
    except msgspec.ValidationError:
        if not kind.DYNAMIC and not kind.ALIASES:
            raise
    fields = _decode_fields(raw)
    for alias, name in kind.ALIASES.items():
        if alias in fields:
            fields.setdefault(name, fields[alias])
    # The types know free values to a certain depth only: they get the outline, the body gets the whole.
    free = {name: fields[name] for name in kind.DYNAMIC if name in fields}
    body = decode(_encode(fields | {name: _outline(value) for name, value in free.items()}))
    return msgspec.structs.replace(body, **free)


def _outline(value: Any, levels: int = 2) -> Any:
    if levels and isinstance(value, dict):
        return {key: _outline(item, levels - 1) for key, item in cast("dict[Any, Any]", value).items()}
    if levels and isinstance(value, list):
        return [_outline(item, levels - 1) for item in cast("list[Any]", value)]
    return value if isinstance(value, str | int | float) else None


def _check_ids(header: Header, body: Body | Tombstone) -> None:
    if isinstance(body, Tombstone):
        if not _is_conversation_id(header.conversation_id):
            raise _invalid("`conversationId` must be a conversation's id")
        return
    problem = bad_id(body)
    if problem:
        raise _invalid(problem)
    if header.conversation_id != body.conversation_id:
        raise _invalid("`conversationId` must be the same in the envelope and in its body")
    if not header.conversation_id and header.stanza_id < 0:
        raise _invalid("`conversationId` may be missing only from a client's Configuration")


def _is_stanza_id(number: int) -> bool:
    return INT32_MIN <= number <= INT32_MAX and number != 0


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


def bad_header(data: bytes, error: Exception) -> RemoteProtocolError:
    """The refusal of bytes in which not even a header could be read."""
    if not data or not is_map(data[0]):
        return RemoteProtocolError(ErrorCode.MALFORMED, "an envelope must be a MessagePack map")
    refusal = _bad(error)
    refusal.stanza_id = _peek_stanza_id(data)
    return refusal


def too_large(data: bytes) -> RemoteProtocolError:
    """The refusal of bytes that are not even looked at."""
    message = f"an envelope holds at most {MAX_BYTES} bytes, this one has {len(data)}"
    return RemoteProtocolError(ErrorCode.TOO_LARGE, message, stanza_id=_peek_stanza_id(data[:MAX_BYTES]))


def is_map(first_byte: int) -> bool:
    """Whether a MessagePack map begins with this byte."""
    return 0x80 <= first_byte <= 0x8F or first_byte in (0xDE, 0xDF)


def unpacker(data: bytes) -> msgpack.Unpacker:
    """For `skip` and `tell` only: skipping allocates nothing, whatever lengths the data claims."""
    unpacker = msgpack.Unpacker(max_buffer_size=MAX_BYTES)
    unpacker.feed(data)
    return unpacker


def _peek_stanza_id(data: bytes) -> int | None:
    """The stanza id of an envelope that is cut short or otherwise bad, if it stands before the damage."""
    cursor = unpacker(data)
    try:
        for _ in range(cursor.read_map_header()):
            start = cursor.tell()
            cursor.skip()
            middle = cursor.tell()
            cursor.skip()
            if data[start:middle] == b"\xa8stanzaId":
                stanza_id = msgspec.msgpack.decode(data[middle : cursor.tell()], type=int)
                return stanza_id if _is_stanza_id(stanza_id) else None
    except (ValueError, msgpack.UnpackException):
        pass
    return None
