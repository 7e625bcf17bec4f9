"""All that a user has, as one archive: out, in again, and away."""

import asyncio
import io
import tempfile
import zipfile
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing
from pathlib import PurePosixPath
from typing import IO, Annotated, Any, Final

import msgspec
import psycopg
from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from alicia.api.calls import Calls
from alicia.api.problems import Problem, documented
from alicia.api.scope import Shared, TheCaller
from alicia.api.shapes import Answer, shown
from alicia.storage import archive
from alicia.storage.archive import TABLES, Table
from alicia.storage.pool import Connection, Pool

routes = Calls("privacy")

FORMAT: Final = b'{"format": "alicia", "version": 1}\n'
MANIFEST: Final = "alicia.json"
SOUND_FOLDER: Final = "audio"
PIECE: Final = 2**20
LONGEST_LINE: Final = 32 * 2**20
BATCH: Final = 200
BATCH_BYTES: Final = 4 * 2**20
_ZIP: Final = {"application/zip": {"schema": {"type": "string", "format": "binary"}}}


class Pieces(StreamingResponse):
    """Ends its generator, which holds a connection, also when the reader goes away in the middle."""

    def __init__(self, pieces: AsyncGenerator[bytes], **options: Any) -> None:
        super().__init__(pieces, **options)
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._pieces):
            await super().__call__(scope, receive, send)


class Imported(Answer, frozen=True, kw_only=True):
    """How many rows of each table were new."""

    imported: Annotated[dict[str, int], shown({"alicia_conversations": 2, "alicia_messages": 31})]


@routes.get(
    "/export",
    response_class=Response,
    summary="Take everything away as one archive",
    responses={200: {"description": "The archive", "content": _ZIP}, **documented(401, 429, 503)},
)
async def export_archive(known: TheCaller, shared: Shared) -> Pieces:
    """A zip with a file of JSON Lines for each table, and every sound as a file; see docs/api.md."""
    shared.limits.archives.take(known.user)
    name = 'attachment; filename="alicia.zip"'
    return Pieces(
        write(shared.pool, known.user), media_type="application/zip", headers={"Content-Disposition": name}
    )


@routes.post(
    "/import",
    summary="Bring an archive back in",
    responses=documented(401, 413, 422, 429, 503),
    openapi_extra={"requestBody": {"required": True, "content": _ZIP}},
)
async def import_archive(request: Request, known: TheCaller, shared: Shared) -> Imported:
    """The same rows with the same ids, as the caller's own. What is there already stays as it is."""
    shared.limits.archives.take(known.user)
    with tempfile.TemporaryFile() as file:
        async for piece in request.stream():
            await asyncio.to_thread(file.write, piece)
        try:
            with zipfile.ZipFile(file) as opened:
                return Imported(imported=await read(shared.pool, known.user, opened))
        except (
            zipfile.BadZipFile,
            EOFError,
            NotImplementedError,
            OSError,
            RuntimeError,
            ValueError,
        ) as error:
            raise Problem(422, f"This is no archive of Alicia's: {error}".rstrip(".") + ".") from error
        except (psycopg.DataError, psycopg.IntegrityError) as error:
            raise Problem(422, "The archive's rows do not fit together; nothing was imported.") from error


@routes.delete(
    "/me",
    status_code=204,
    response_class=Response,
    summary="Erase everything",
    responses=documented(401, 429, 503),
)
async def erase_everything(known: TheCaller, shared: Shared) -> None:
    """Really: conversations, memories, notes, settings, sound, and the user's name."""
    shared.limits.archives.take(known.user)
    await shared.ledger.erase_user(known.user)


class _Sink(io.RawIOBase):
    """Takes what the zip writer writes, until it is sent."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)


async def write(pool: Pool, owner: str) -> AsyncGenerator[bytes]:
    """The archive piece by piece, all of one snapshot, in memory that does not grow with it."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr(_entry(MANIFEST), FORMAT)
        async with pool.connection() as conn, conn.transaction():
            await conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            for table in TABLES:
                with opened.open(_entry(f"{table.name}.jsonl"), "w", force_zip64=True) as file:
                    async with aclosing(_lines(conn, owner, table)) as pieces:
                        async for lines in pieces:
                            await asyncio.to_thread(file.write, lines)
                            yield sink.take()
            for table in TABLES:
                if table.has_sound:
                    async with aclosing(_sounds(conn, owner, table, opened)) as written:
                        async for _ in written:
                            yield sink.take()
    yield sink.take()


async def _lines(conn: Connection, owner: str, table: Table) -> AsyncGenerator[bytes]:
    lines: list[bytes] = []
    size = 0
    async with aclosing(archive.rows(conn, owner, table)) as texts:
        async for text in texts:
            lines.append(text.encode() + b"\n")
            size += len(lines[-1])
            if size > PIECE:
                yield b"".join(lines)
                lines, size = [], 0
    yield b"".join(lines)


async def _sounds(
    conn: Connection, owner: str, table: Table, opened: zipfile.ZipFile
) -> AsyncGenerator[None]:
    """Writes each sound as a file of its own, and pauses after every piece."""
    async with aclosing(archive.sounds(conn, owner, table)) as sounds:
        async for row_id, size in sounds:
            entry = _entry(f"{SOUND_FOLDER}/{row_id}")
            # Sound is compressed already, or does not get much smaller.
            entry.compress_type = zipfile.ZIP_STORED
            with opened.open(entry, "w", force_zip64=True) as file:
                for start in range(0, size, PIECE):
                    file.write(await archive.sound(conn, table, row_id, start, PIECE))
                    yield


def _entry(name: str) -> zipfile.ZipInfo:
    """An entry without a time, so that the same rows always give the same archive."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


async def read(pool: Pool, owner: str, opened: zipfile.ZipFile) -> dict[str, int]:
    """Store an archive's rows in one transaction; how many of each table were new."""
    names = set(opened.namelist())
    if MANIFEST not in names or opened.read(MANIFEST) != FORMAT:
        raise Problem(422, "This is no archive of Alicia's, or one of another version.")
    added: dict[str, int] = {}
    async with pool.connection() as conn, conn.transaction():
        await archive.begin_import(conn)
        for table in TABLES:
            name = f"{table.name}.jsonl"
            if name in names:
                with opened.open(name) as file:
                    added[table.name] = await _store(conn, owner, table, file, opened, names)
        if await archive.borrowed_sound(conn, owner):
            raise Problem(422, "The archive names recordings that are not its own.")
    return added


async def _store(
    conn: Connection,
    owner: str,
    table: Table,
    file: IO[bytes],
    opened: zipfile.ZipFile,
    names: set[str],
) -> int:
    added = 0
    for batch in _batches(file):
        silent = batch
        if table.has_sound:
            spoken = {text: path for text in batch if (path := _sound_of(text)) in names}
            for text, path in spoken.items():
                added += await archive.insert(conn, owner, table, [text], opened.read(path))
            silent = [text for text in batch if text not in spoken]
        added += await archive.insert(conn, owner, table, silent)
    return added


def _sound_of(text: str) -> str:
    """Where the archive has a row's sound, if it has any."""
    row = msgspec.json.decode(text, type=dict[str, Any])
    return str(PurePosixPath(SOUND_FOLDER) / str(row.get("id")))


def _batches(file: IO[bytes]) -> Generator[list[str]]:
    batch: list[str] = []
    size = 0
    while line := file.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise ValueError("a line is too long")
        batch.append(line.decode())
        size += len(line)
        if len(batch) >= BATCH or size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
