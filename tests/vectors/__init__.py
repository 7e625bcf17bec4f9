"""Golden vectors: bytes, and what every reader in every language must make of them.

`envelopes.json` is written by scripts/generate_protocol_vectors.py from the envelopes in this package.
"""

import json
from pathlib import Path
from typing import Any, Final, cast

import msgpack

from alicia.errors import RemoteProtocolError
from alicia.protocol.envelope import decode, encode
from vectors.edges import aliased, edges
from vectors.invalid import invalid
from vectors.valid import as_map, common

FILE: Final = Path(__file__).parent / "envelopes.json"


def for_json(value: Any) -> Any:
    """JSON has no bytes: they are written as a map with one key."""
    if isinstance(value, bytes):
        return {"$hex": value.hex()}
    if isinstance(value, dict):
        return {key: for_json(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [for_json(item) for item in cast("list[Any]", value)]
    return value


def refusal(data: bytes) -> dict[str, Any]:
    try:
        envelope = decode(data)
    except RemoteProtocolError as error:
        return {"code": error.code, "stanzaId": error.stanza_id}
    raise SystemExit(f"this should have been refused: {envelope}")


def render() -> str:
    """The file's text."""
    entries: list[dict[str, Any]] = []
    for name, envelope in (common() | edges()).items():
        data = encode(envelope)
        meaning = for_json(msgpack.unpackb(data))
        entries.append({"name": name, "common": name in common(), "hex": data.hex(), "meaning": meaning})
    for name, (sent, envelope) in aliased().items():
        data = msgpack.packb(sent)
        meaning = for_json(as_map(envelope))
        entries.append({"name": name, "hex": data.hex(), "meaning": meaning, "spelled": for_json(sent)})
    for name, data in invalid().items():
        entries.append({"name": name, "hex": data.hex(), "refusal": refusal(data)})
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"
