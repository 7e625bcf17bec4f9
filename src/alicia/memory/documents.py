"""Imports documents: each is split, embedded and stored; a second import changes only what has changed."""

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from alicia.errors import ModelUnavailable
from alicia.memory.embeddings import Embedder
from alicia.memory.reading import READABLE, read_document
from alicia.memory.splitting import Piece
from alicia.storage.documents import Chunk, chunks_of, drop_chunks, move_chunk
from alicia.storage.memories import Embedding, NewMemory, create_memories
from alicia.storage.pool import Pool

BATCH: Final = 16

Progress = Callable[[str, int, int], None]
"""Told a document's name, and how many of its pieces are done, of how many."""


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import did, in pieces."""

    document: str
    added: int = 0
    kept: int = 0
    removed: int = 0


def find_documents(path: Path) -> Iterator[Path]:
    """The file itself, or all readable files below a folder, in order; hidden ones are left out."""
    if path.is_dir():
        for found in sorted(path.rglob("*")):
            hidden = any(part.startswith(".") for part in found.relative_to(path).parts)
            if found.is_file() and found.suffix.lower() in READABLE and not hidden:
                yield found
    else:
        yield path


async def import_document(
    pool: Pool,
    embedder: Embedder,
    owner: str,
    name: str,
    data: bytes,
    *,
    tags: Sequence[str] = (),
    progress: Progress | None = None,
) -> Imported:
    """Make an owner's memories of a document those of this version of it; `name` tells documents apart.

    What is stored stays when the import is cut short, and the next one goes on from there. Pieces that could
    not be embedded are stored all the same. UnreadableDocument says why nothing was done.
    """
    # A PDF may take seconds to read.
    pieces = await asyncio.to_thread(read_document, name, data)
    infos = [_info(name, position, piece) for position, piece in enumerate(pieces)]
    async with pool.connection() as conn:
        stored: dict[str, list[Chunk]] = {}
        for chunk in await chunks_of(conn, owner, name):
            stored.setdefault(chunk.source_info.get("hash", ""), []).append(chunk)
        missing: list[tuple[Piece, dict[str, Any]]] = []
        for piece, info in zip(pieces, infos, strict=True):
            if same := stored.get(info["hash"]):
                chunk = same.pop(0)
                if chunk.source_info != info:
                    await move_chunk(conn, owner, chunk.id, info)
            else:
                missing.append((piece, info))
        gone = [chunk.id for chunks in stored.values() for chunk in chunks]
        await drop_chunks(conn, owner, gone)
    kept = len(pieces) - len(missing)
    for start in range(0, len(missing), BATCH):
        if progress:
            progress(name, kept + start, len(pieces))
        batch = missing[start : start + BATCH]
        vectors = await _embed(embedder, [piece.content for piece, _ in batch])
        new = [
            NewMemory(
                content=piece.content,
                embedding=vector,
                source_type="document",
                source_info=info,
                tags=tags,
                memory_type="world_fact",
            )
            for (piece, info), vector in zip(batch, vectors, strict=True)
        ]
        async with pool.connection() as conn:
            await create_memories(conn, owner, new)
    if progress:
        progress(name, len(pieces), len(pieces))
    return Imported(document=name, added=len(missing), kept=kept, removed=len(gone))


def _info(name: str, position: int, piece: Piece) -> dict[str, Any]:
    digest = hashlib.sha256(piece.content.encode()).hexdigest()[:24]
    info: dict[str, Any] = {"document": name, "position": position, "hash": digest}
    if piece.heading:
        info["heading"] = piece.heading
    if piece.page:
        info["page"] = piece.page
    return info


async def _embed(embedder: Embedder, texts: Sequence[str]) -> Sequence[Embedding | None]:
    try:
        return await embedder.embed(texts)
    except ModelUnavailable:
        return [None] * len(texts)
