"""Bytes that must be refused."""

import struct
from typing import Any

import msgpack

from alicia.protocol.envelope import encode
from vectors.edges import edges
from vectors.valid import QUESTION, SENTENCE, as_map, common


def invalid() -> dict[str, bytes]:
    """What must be refused; the codes are found by decoding and stand in the file for review."""
    good = common() | edges()
    question = as_map(good["UserMessage"])
    answer = as_map(good["AssistantSentence with trace meta"])
    tool = as_map(good["ToolUseRequest"])
    raw = encode(good["UserMessage"])

    def change(base: dict[str, Any], path: str, value: object) -> bytes:
        copy: dict[str, Any] = msgpack.unpackb(msgpack.packb(base))
        *outer, last = path.split(".")
        target = copy
        for name in outer:
            target = target[name]
        if value is ...:
            del target[last]
        else:
            target[last] = value
        return msgpack.packb(copy)

    deep: Any = 1
    for _ in range(40):
        deep = [deep]
    half = raw.replace(b"restaurants", b"rest\xed\xa0\x80ants")  # half of a UTF-16 pair, as long as "aur"
    return {
        "nothing": b"",
        "an integer": b"\x07",
        "a list": b"\x93\x01\x02\x03",
        "cut short": raw[:-5],
        "cut in the first key": raw[:4],
        "a byte too many": raw + b"\xc0",
        "a byte that MessagePack never uses": change(question, "meta.x", "?").replace(
            b"\xa1x\xa1?", b"\xa1x\xc1"
        ),
        "text that is not UTF-8": raw.replace(b"restaurants", b"rest\xff\xfe\xfdants"),
        "half a surrogate pair": half,
        "an unknown type": change(question, "type", 99),
        "a type beyond 16 bits": change(question, "type", 70_000),
        "a type that is text": change(question, "type", "2"),
        "no type": change(question, "type", ...),
        "stanza 0": change(question, "stanzaId", 0),
        "stanza beyond 32 bits": change(question, "stanzaId", 2**31),
        "stanza beyond 32 bits, negative": change(question, "stanzaId", -(2**31) - 1),
        "stanza beyond 63 bits": change(question, "stanzaId", 2**64 - 1),
        "stanza that is text": change(question, "stanzaId", "3"),
        "no stanza": change(question, "stanzaId", ...),
        "no body": change(question, "body", ...),
        "a body that is a list": change(question, "body", [1, 2]),
        "no content": change(question, "body.content", ...),
        "content that is a number": change(question, "body.content", 5),
        "an id of another kind": change(question, "body.id", SENTENCE),
        "an id that is too short": change(question, "body.id", "am_short"),
        "an id with a line break": change(question, "body.id", QUESTION[:-1] + "\n"),
        "an id for sound that is a message's": change(
            as_map(good["AudioChunk with a recorded clip"]), "body.id", QUESTION
        ),
        "a negative sequence": change(answer, "body.sequence", -1),
        "a sequence beyond 32 bits": change(answer, "body.sequence", 2**31),
        "a status of no kind": change(answer, "body.status", "paused"),
        "a confidence above 1": change(as_map(good["MemoryTrace"]), "body.confidence", 1.5),
        "a confidence that is not a number": change(
            as_map(good["MemoryTrace"]), "body.confidence", float("nan")
        ),
        "NaN in meta": change(question, "meta.x", float("nan")),
        "infinity in meta, 32 bits": change(question, "meta.x", "?").replace(
            b"\xa1x\xa1?", b"\xa1x\xca" + struct.pack(">f", float("-inf"))
        ),
        "infinity deep in parameters": change(tool, "body.parameters.x", [[{"y": float("inf")}]]),
        "nested too deeply": change(tool, "body.parameters.x", deep),
        "nested without end": b"\x82\xa8stanzaId\x03\xa4meta\x81\xa1x" + b"\x91" * 1_100 + b"\xc0",
        "a key in parameters that is a number": change(tool, "body.parameters.filters", {1: 2}),
        "a key in meta that is nil": change(question, "meta", {None: 1}),
        "bytes in meta": change(question, "meta.x", b"\x01"),
        "an extension in meta": change(question, "meta.x", msgpack.ExtType(5, b"\x01")),
        "a timestamp extension in parameters": change(tool, "body.parameters.x", msgpack.Timestamp(1, 0)),
        "NUL in content": change(question, "body.content", "a\0b"),
        "NUL in meta": change(question, "meta.x", "a\0b"),
        "NUL in a key of meta": change(question, "meta.x", {"a\0b": 1}),
        "a key of meta that is too long": change(question, "meta", {"k" * 601: 1}),
        "no conversation": change(question, "conversationId", ...),
        "two conversations": change(question, "conversationId", "ac_" + "x" * 21),
        "an agent's Configuration without conversation": change(
            as_map(good["Configuration that opens with nothing said"]), "stanzaId", -2
        ),
        "a client's stanza that says it is durable": change(question, "previousStanzaId", -2),
        "a durable stanza before its predecessor": change(answer, "previousStanzaId", -9),
        "a durable Acknowledgement": change(as_map(good["Acknowledgement"]), "previousStanzaId", -4),
        "a tombstone from a client": change(
            as_map(good["UserMessage"]), "body", {"id": QUESTION, "erased": True}
        ),
        "a tombstone that is not erased": change(
            as_map(good["Tombstone of a UserMessage"]), "body.erased", False
        ),
        "a tombstone without conversation": change(
            as_map(good["Tombstone of a UserMessage"]), "conversationId", ...
        ),
    }
