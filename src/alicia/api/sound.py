"""Sound as files that a browser plays, in ranges, as they are stored or with a header before raw samples."""

import re
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import Path, Request, Response

from alicia import ids
from alicia.api.calls import Calls
from alicia.api.problems import Problem, documented
from alicia.api.scope import Conn, User
from alicia.storage.audio import Sound, recorded_sound, sentence_sound
from alicia.storage.pool import Connection

routes = Calls("audio")

Read = Callable[[Connection, str, str, int, int], Awaitable[Sound | None]]
SentenceId = Annotated[str, Path(pattern=f"^{ids.pattern(ids.SentenceId)}$")]
AudioId = Annotated[str, Path(pattern=f"^{ids.pattern(ids.AudioId)}$")]

SAMPLE_RATE: Final = 24_000
"""Of raw samples whose format does not tell it: that of the embedded voice."""
PIECE: Final = 4 * 2**20
"""How much of a file without a range in the request is the most that one answer to an open range gives."""
_SIGNS: Final = (
    (b"OggS", "audio/ogg"),
    (b"RIFF", "audio/wav"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\x1aE\xdf\xa3", "audio/webm"),
)
_RANGE: Final = re.compile(r"bytes=(\d*)-(\d*)\Z")
_BYTES: Final[dict[str, Any]] = {"schema": {"type": "string", "format": "binary"}}
_FILES: Final[dict[str, Any]] = {"audio/ogg": _BYTES, "audio/wav": _BYTES}
_SOUND_ANSWERS: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "The whole file", "content": _FILES},
    206: {"description": "The range that was asked for", "content": _FILES},
    304: {"description": "The file that the caller has is still right"},
    **documented(401, 404, 416, 422, 503),
}


@dataclass(frozen=True)
class File:
    """What a stored recording is served as: `header`, then its bytes."""

    media_type: str
    header: bytes
    stored: int

    @property
    def size(self) -> int:
        return len(self.header) + self.stored


def file_of(sound: Sound) -> File:
    """How to serve a recording, by its first bytes or, for raw samples, by its format's name."""
    for sign, media_type in _SIGNS:
        if sound.data.startswith(sign):
            return File(media_type, b"", sound.size)
    if sound.audio_format.lower().startswith(("pcm", "audio/pcm", "audio/l16", "l16", "raw")):
        return File("audio/wav", wav_header(sound.size, *_samples(sound.audio_format)), sound.size)
    return File("application/octet-stream", b"", sound.size)


def _samples(audio_format: str) -> tuple[int, int]:
    """Rate and channels, as in `pcm_s16le_24000` or `audio/pcm;rate=48000;channels=2`."""
    numbers = [int(number) for number in re.findall(r"\d+", audio_format)]
    rate = next((number for number in numbers if 8_000 <= number <= 192_000), SAMPLE_RATE)
    channels = re.search(r"channels=([12])\b", audio_format)
    return rate, int(channels[1]) if channels else 1


def wav_header(size: int, rate: int, channels: int) -> bytes:
    """What makes a WAV file of so many bytes of 16-bit samples."""
    frame = 2 * channels
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", 36 + size, b"WAVE"),
        *(b"fmt ", 16, 1, channels, rate, rate * frame, frame, 16),
        *(b"data", size),
    )


@routes.get(
    "/sentences/{sentence_id}/audio",
    response_class=Response,
    summary="Hear a sentence",
    responses=_SOUND_ANSWERS,
)
async def sentence_audio(sentence_id: SentenceId, user: User, conn: Conn, request: Request) -> Response:
    """The sentence as it was spoken; takes range requests."""
    return await _serve(conn, user, sentence_id, sentence_sound, request)


@routes.get(
    "/audio/{audio_id}", response_class=Response, summary="Hear a recording", responses=_SOUND_ANSWERS
)
async def recorded_audio(audio_id: AudioId, user: User, conn: Conn, request: Request) -> Response:
    """What was recorded of the user; takes range requests."""
    return await _serve(conn, user, audio_id, recorded_sound, request)


async def _serve(conn: Connection, user: str, sound_id: str, read: Read, request: Request) -> Response:
    beginning = await read(conn, user, sound_id, 0, 64)
    if beginning is None or beginning.size == 0:
        raise Problem(404, "There is no such sound.")
    file = file_of(beginning)
    etag = f'"{sound_id}-{file.size}"'
    headers = {
        "Accept-Ranges": "bytes",
        # A recording never changes while it has its id; but it may be erased, so it is asked for each time.
        "Cache-Control": "private, no-cache",
        "ETag": etag,
    }
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    asked = request.headers.get("range")
    if asked is not None and request.headers.get("if-range", etag) == etag and "," not in asked:
        start, end = _range(asked, file.size)
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{file.size}"
        data = await _read(conn, user, sound_id, read, file, start, end)
        return Response(data, 206, headers, media_type=file.media_type)
    data = await _read(conn, user, sound_id, read, file, 0, file.size)
    return Response(data, 200, headers, media_type=file.media_type)


def _range(asked: str, size: int) -> tuple[int, int]:
    """Where the range starts and ends; Problem 416 when nothing of it is there."""
    match = _RANGE.match(asked)
    first, last = (match[1], match[2]) if match else ("", "")
    if first and int(first) < size and (not last or int(first) <= int(last)):
        start, end = int(first), min(int(last) + 1, size) if last else size
        return start, end if last else min(end, start + PIECE)
    if not first and last and int(last) > 0:
        return max(0, size - int(last)), size
    raise Problem(416, f"The sound has {size} bytes.", headers={"Content-Range": f"bytes */{size}"})


async def _read(
    conn: Connection, user: str, sound_id: str, read: Read, file: File, start: int, end: int
) -> bytes:
    head = file.header[start:end]
    from_ = max(0, start - len(file.header))
    count = end - start - len(head)
    if not count:
        return head
    part = await read(conn, user, sound_id, from_, count)
    if part is None:
        raise Problem(404, "There is no such sound.")
    return head + part.data
