"""Whatever may be sent arrives unchanged; whatever else arrives is refused and nothing worse."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alicia.errors import ErrorCode, RemoteProtocolError
from alicia.protocol.envelope import (
    Envelope,
    decode,
    decode_carefully,
    decode_packet,
    encode,
    pack,
    split,
)
from alicia.protocol.messages import BODIES, Body
from support.bodies import CONVERSATION, bodies, envelopes

FORMAT_ERRORS = {
    ErrorCode.MALFORMED,
    ErrorCode.UNKNOWN_TYPE,
    ErrorCode.STANZA,
    ErrorCode.INVALID_FIELD,
    ErrorCode.TOO_LARGE,
}


@pytest.mark.parametrize("kind", BODIES.values(), ids=lambda kind: kind.__name__)
@settings(max_examples=60)
@given(data=st.data())
def test_every_type_survives_a_round_trip(kind: type[Body], data: st.DataObject) -> None:
    body = data.draw(bodies(kind))
    envelope = Envelope(type=kind.CODE, stanza_id=7, conversation_id=CONVERSATION, body=body)
    assert decode(encode(envelope)) == envelope
    assert decode_carefully(encode(envelope)) == envelope


@settings(max_examples=300)
@given(envelopes())
def test_every_envelope_survives_a_round_trip(envelope: Envelope) -> None:
    assert decode(encode(envelope)) == envelope
    assert decode_carefully(encode(envelope)) == envelope


@settings(max_examples=100)
@given(st.lists(envelopes(), max_size=6), st.integers(1, 4_000))
def test_packets_hold_envelopes_in_order(sent: list[Envelope], limit: int) -> None:
    encoded = [encode(envelope) for envelope in sent]
    packets = list(pack(encoded, limit))
    assert [item for packet in packets for item in decode_packet(packet)] == sent
    assert [data for packet in packets for data in split(packet)] == encoded
    assert all(len(packet) <= limit or packet in encoded for packet in packets)


def outcome(decoder: Callable[[bytes], Envelope], data: bytes) -> Envelope | tuple[int | None, ...]:
    try:
        return decoder(data)
    except RemoteProtocolError as error:
        return (error.code, error.stanza_id, error.previous_stanza_id)


def check_outcome(data: bytes) -> None:
    """Both decoders say the same, and a packet of these bytes ends in answers, not in exceptions."""
    result = outcome(decode, data)
    assert result == outcome(decode_carefully, data)
    if isinstance(result, tuple):
        assert result[0] in FORMAT_ERRORS
    else:
        assert outcome(decode, encode(result)) == result
    decode_packet(data)
    decode_packet(data + data)


@settings(max_examples=1_000)
@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_refused_with_a_code(data: bytes) -> None:
    check_outcome(data)


@settings(max_examples=1_000)
@given(envelopes(), st.data())
def test_mutated_envelopes_are_read_alike_or_refused_with_a_code(
    envelope: Envelope, data: st.DataObject
) -> None:
    mutated = bytearray(encode(envelope))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(mutated) - 1)) if mutated else 0
        match data.draw(st.sampled_from(["flip", "insert", "delete", "cut", "repeat"])):
            case "flip" if mutated:
                mutated[place] = data.draw(st.integers(0, 255))
            case "insert":
                mutated[place:place] = data.draw(st.binary(max_size=9))
            case "delete":
                del mutated[place : place + data.draw(st.integers(1, 9))]
            case "cut":
                del mutated[place:]
            case _:
                mutated += mutated[place : place + 20]
    check_outcome(bytes(mutated))
