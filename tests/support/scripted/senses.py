"""Deterministic stand-ins for embeddings and speech."""

import array
import base64
import email.message
import email.parser
import email.policy
import hashlib
import io
import math
import re
import wave
from typing import Any

SAMPLE_RATE = 24_000
_MS_PER_CHARACTER = 50
_WORD = re.compile(r"\w+")


def embed(text: str, dimensions: int) -> list[float]:
    """A unit vector: texts that share words are near each other, the same text is the same vector."""
    vector = [0.0] * dimensions
    for word in _WORD.findall(text.lower()) or [text]:
        digest = hashlib.sha256(word.encode()).digest()
        for start in range(0, 32, 8):
            value = int.from_bytes(digest[start : start + 8], "big")
            vector[value % dimensions] += 1.0 if value >> 63 else -1.0
    length = math.sqrt(sum(x * x for x in vector)) or 1.0
    return [x / length for x in vector]


def embeddings(body: dict[str, Any], dimensions: int) -> dict[str, Any]:
    given = body["input"]
    texts: list[str] = [given] if isinstance(given, str) else given
    as_base64 = body.get("encoding_format") == "base64"
    data: list[dict[str, Any]] = []
    for index, text in enumerate(texts):
        vector: list[float] | str = embed(text, body.get("dimensions") or dimensions)
        if as_base64:
            vector = base64.b64encode(array.array("f", vector).tobytes()).decode()
        data.append({"object": "embedding", "index": index, "embedding": vector})
    words = sum(len(_WORD.findall(text)) for text in texts)
    usage = {"prompt_tokens": words, "total_tokens": words}
    return {"object": "list", "model": body.get("model", "scripted"), "data": data, "usage": usage}


def tone(text: str) -> bytes:
    """A quiet 440 Hz tone of 24 kHz mono 16-bit samples, 50 ms for each character."""
    count = len(text) * _MS_PER_CHARACTER * SAMPLE_RATE // 1000
    period = [round(3000 * math.sin(2 * math.pi * 11 * n / 600)) for n in range(600)]
    return array.array("h", (period * (count // 600 + 1))[:count]).tobytes()


def wav(pcm: bytes) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(pcm)
    return out.getvalue()


def form(content_type: str, body: bytes) -> dict[str, str | bytes]:
    """The fields of a multipart form; files stay bytes."""
    head = f"Content-Type: {content_type}\r\n\r\n".encode()
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
    fields: dict[str, str | bytes] = {}
    for part in message.iter_parts():
        assert isinstance(part, email.message.EmailMessage)
        name = str(part.get_param("name", header="content-disposition"))
        data = part.get_payload(decode=True)
        assert isinstance(data, bytes)
        fields[name] = data if part.get_filename() else data.decode()
    return fields
