"""Envelopes and packets, case by case."""

import math
import resource
import struct
from typing import Any, get_type_hints

import msgpack
import msgspec
import pytest

from alicia import ids
from alicia.errors import ErrorCode, LocalProtocolError, RemoteProtocolError
from alicia.protocol.envelope import (
    MAX_BYTES,
    PACKET_BYTES,
    Envelope,
    decode,
    decode_carefully,
    decode_packet,
    encode,
    pack,
    split,
)
from alicia.protocol.fields import FIELDS
from alicia.protocol.messages import BODIES, Body, MemoryTrace, Tombstone, ToolUseResult, UserMessage
from vectors.valid import CONVERSATION, QUESTION, TOOL_USE, common


def message(content: str = "hello", stanza_id: int = 3, meta: dict[str, Any] | None = None) -> Envelope:
    body = UserMessage(conversation_id=CONVERSATION, id=QUESTION, content=content)
    return Envelope(type=2, stanza_id=stanza_id, conversation_id=CONVERSATION, meta=meta, body=body)


def result(value: Any) -> Envelope:
    body = ToolUseResult(conversation_id=CONVERSATION, request_id=TOOL_USE, success=True, result=value)
    return Envelope(type=7, stanza_id=3, conversation_id=CONVERSATION, body=body)


def nested(depth: int) -> Any:
    value: Any = 1
    for level in range(depth):
        value = [value] if level % 2 else {"in": value}
    return value


def refusal(data: bytes) -> RemoteProtocolError:
    with pytest.raises(RemoteProtocolError) as caught:
        decode(data)
    return caught.value


def test_a_message_type_is_found_by_its_code() -> None:
    assert sorted(BODIES) == list(range(1, 18))


def test_every_field_of_free_shape_is_named_as_such() -> None:
    for kind in BODIES.values():
        hints = get_type_hints(kind)
        free = [field.name for field in msgspec.structs.fields(kind) if "float" in str(hints[field.name])]
        assert [name for name in free if name != "confidence"] == list(kind.DYNAMIC)


def test_another_order_of_fields_is_read_alike() -> None:
    for envelope in common().values():
        fields = msgpack.unpackb(encode(envelope))
        turned = {key: fields[key] for key in reversed(fields)}
        turned["body"] = {key: fields["body"][key] for key in reversed(fields["body"])}
        assert decode(msgpack.packb(turned)) == envelope


def test_values_may_nest_thirty_two_deep_and_no_deeper() -> None:
    for depth in (1, 5, 6, 7, 31, 32):
        assert decode(encode(result(nested(depth)))) == result(nested(depth))
        meta = nested(depth) if depth % 2 else {"in": nested(depth - 1)}
        assert decode(encode(message(meta=meta))) == message(meta=meta)
    error = refusal(encode(result(nested(33))))
    assert (error.code, error.stanza_id) == (ErrorCode.INVALID_FIELD, 3)


@pytest.mark.parametrize(
    "bad", [math.nan, math.inf, -math.inf, b"bytes", {1: 2}, {"a\0": 1}, "\0", msgpack.Timestamp(0)]
)
@pytest.mark.parametrize("depth", [0, 3, 20])
def test_what_the_database_cannot_hold_is_refused_at_any_depth(bad: object, depth: int) -> None:
    value: Any = bad
    for _ in range(depth):
        value = [0, value]
    fields = msgpack.unpackb(encode(result("here")))
    fields["body"]["result"] = value
    assert refusal(msgpack.packb(fields)).code == ErrorCode.INVALID_FIELD


def test_the_letters_of_an_escape_are_not_a_nul() -> None:
    envelope = message("\\u0000 and \\\\u0000", meta={"zero": 0, "text": "\\u0000"})
    assert decode(encode(envelope)) == envelope


def test_an_envelope_of_a_mebibyte_passes_and_a_byte_more_is_refused() -> None:
    room = MAX_BYTES - len(encode(message("x" * 70_000))) + 70_000
    data = encode(message("x" * room))
    assert len(data) == MAX_BYTES
    assert decode(data) == message("x" * room)
    error = refusal(data.replace(b"xx", b"xxx", 1))
    assert (error.code, error.stanza_id) == (ErrorCode.TOO_LARGE, 3)
    (answer,) = decode_packet(data + b"x")
    assert isinstance(answer, RemoteProtocolError)
    assert answer.code == ErrorCode.TOO_LARGE


def test_claimed_lengths_cost_no_memory() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = b"\x82\xa8stanzaId\x03\xa4meta\x81\xa1x"
    for claim in (
        b"\xdd\xff\xff\xff\xff",
        b"\xdf\xff\xff\xff\xff\xa1k",
        b"\xdb\xff\xff\xff\xff",
        b"\xc6\xff\xff\xff\xff",
    ):
        for times in (1, 20, 100_000):
            error = refusal(start + claim * times)
            assert error.code in (ErrorCode.MALFORMED, ErrorCode.INVALID_FIELD)
            assert error.stanza_id == 3
            decode_packet(claim * times)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes


def test_a_memory_trace_without_confidence_is_read_with_and_without_its_other_spelling() -> None:
    trace = common()["MemoryTrace"]
    assert isinstance(trace.body, MemoryTrace)
    fields = msgpack.unpackb(encode(trace))
    del fields["body"]["confidence"]
    decoded = decode(msgpack.packb(fields))
    assert isinstance(decoded.body, MemoryTrace)
    assert decoded.body.confidence is None
    fields["body"]["relevance"] = 0.25
    assert decode(msgpack.packb(fields)).body == msgspec.structs.replace(trace.body, confidence=0.25)
    fields["body"]["confidence"] = 0.75
    assert decode(msgpack.packb(fields)).body == msgspec.structs.replace(trace.body, confidence=0.75)


def test_a_tombstone_keeps_the_number_and_the_type_of_what_it_replaces() -> None:
    for original in common().values():
        if original.durable:
            erased = msgspec.structs.replace(original, meta=None, body=Tombstone(id="any id"))
            assert decode(encode(erased)) == erased
            assert erased.type == original.type


def test_a_refused_durable_stanza_names_its_predecessor_so_that_a_client_can_pass_over_it() -> None:
    fields = msgpack.unpackb(encode(common()["AssistantSentence with trace meta"]))
    fields["type"] = 18
    error = refusal(msgpack.packb(fields))
    assert (error.code, error.stanza_id, error.previous_stanza_id) == (ErrorCode.UNKNOWN_TYPE, -9, -8)


def test_a_bad_envelope_does_not_hide_the_others_of_its_packet() -> None:
    unknown = msgpack.packb({"stanzaId": 4, "type": 99, "body": {}})
    items = decode_packet(encode(message()) + unknown + encode(message(stanza_id=5)))
    assert items[0] == message()
    assert isinstance(items[1], RemoteProtocolError)
    assert (items[1].code, items[1].stanza_id) == (ErrorCode.UNKNOWN_TYPE, 4)
    assert items[2] == message(stanza_id=5)


@pytest.mark.parametrize("junk", [b"\x00" * 1_000, b"\x80" * 1_000, b"\xc1", b"\x81", b"\x81\xa8stanzaId"])
def test_after_junk_the_rest_of_a_packet_is_answered_once(junk: bytes) -> None:
    items = decode_packet(encode(message()) + junk + encode(message(stanza_id=5)))
    assert items[0] == message()
    assert [type(item) for item in items[1:]] == [RemoteProtocolError]


def test_an_empty_packet_is_malformed() -> None:
    (error,) = decode_packet(b"")
    assert isinstance(error, RemoteProtocolError)
    assert error.code == ErrorCode.MALFORMED
    assert list(split(b"")) == []


def test_an_envelope_larger_than_a_packet_travels_alone() -> None:
    small, large = encode(message()), encode(message("x" * 70_000))
    assert list(pack([small, small, large, small])) == [small + small, large, small]
    assert all(len(packet) <= PACKET_BYTES for packet in pack([small] * 5_000))
    assert list(pack([])) == []


@pytest.mark.parametrize(
    "envelope",
    [message("x" * MAX_BYTES), message("\ud800"), message(meta={"x": object()}), message(meta={"x": 2**70})],
    ids=["too large", "half a pair", "no such type", "too big a number"],
)
def test_what_cannot_be_encoded_is_our_own_fault(envelope: Envelope) -> None:
    with pytest.raises(LocalProtocolError):
        encode(envelope)


def test_a_float_where_a_number_is_whole_and_a_32_bit_float_are_read_as_numbers() -> None:
    trace = encode(common()["MemoryTrace"])
    long, short = (
        b"\xaaconfidence\xcb" + struct.pack(">d", 0.92),
        b"\xaaconfidence\xca" + struct.pack(">f", 0.5),
    )
    assert long in trace
    for data in (trace.replace(long, short), trace.replace(long, b"\xaaconfidence\x01")):
        assert decode(data) == decode_carefully(data)


def test_every_id_field_is_checked() -> None:
    for envelope in common().values():
        assert isinstance(envelope.body, Body)
        for field in FIELDS[type(envelope.body)].ids:
            for bad in (
                "None",
                "",
                "ac_x",
                QUESTION + "x",
                f"zz_{'x' * ids.LENGTH}",
                "é" * 24,
                "am_" + "x" * 20 + " ",
            ):
                fields = msgpack.unpackb(encode(envelope))
                fields["body"][field.encoded_name] = bad
                if field.name == "conversation_id":
                    fields["conversationId"] = bad
                if bad in field.may_be and envelope.stanza_id > 0:
                    continue
                assert refusal(msgpack.packb(fields)).code == ErrorCode.INVALID_FIELD
