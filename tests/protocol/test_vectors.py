"""The golden vectors: Alicia's own reader and a plain MessagePack library make the same of the same bytes."""

import json
from typing import Any

import msgpack
import pytest

import vectors
from alicia.errors import RemoteProtocolError
from alicia.protocol.envelope import decode, decode_carefully, encode
from alicia.protocol.messages import BODIES
from vectors import for_json

ENTRIES: list[dict[str, Any]] = json.loads(vectors.FILE.read_text(encoding="utf-8"))
GOOD = [entry for entry in ENTRIES if "meaning" in entry]
BAD = [entry for entry in ENTRIES if "refusal" in entry]


def name_of(entry: dict[str, Any]) -> str:
    return entry["name"]


def test_the_file_is_what_the_script_writes() -> None:
    assert vectors.FILE.read_text(encoding="utf-8") == vectors.render(), (
        "run scripts/generate_protocol_vectors.py"
    )


def test_every_type_has_a_vector() -> None:
    assert {entry["meaning"]["type"] for entry in GOOD} == set(BODIES)


@pytest.mark.parametrize("entry", GOOD, ids=name_of)
def test_a_good_vector_means_what_it_says(entry: dict[str, Any]) -> None:
    data = bytes.fromhex(entry["hex"])
    envelope = decode(data)
    assert decode_carefully(data) == envelope
    assert for_json(msgpack.unpackb(encode(envelope))) == entry["meaning"]


@pytest.mark.parametrize("entry", GOOD, ids=name_of)
def test_plain_msgpack_reads_the_same(entry: dict[str, Any]) -> None:
    assert for_json(msgpack.unpackb(bytes.fromhex(entry["hex"]))) == entry.get("spelled", entry["meaning"])


@pytest.mark.parametrize("entry", BAD, ids=name_of)
def test_a_bad_vector_is_refused_with_its_code(entry: dict[str, Any]) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        decode(bytes.fromhex(entry["hex"]))
    assert {"code": caught.value.code, "stanzaId": caught.value.stanza_id} == entry["refusal"]
    assert caught.value.message
