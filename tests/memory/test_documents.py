"""Documents: split, embedded, stored, and imported again."""

import io
from pathlib import Path

import pytest

from alicia.ids import MemoryId
from alicia.local.embedder import LocalEmbedder
from alicia.memory.documents import find_documents, import_document
from alicia.memory.embeddings import EmbeddingServer
from alicia.memory.memory import Memory
from alicia.memory.reading import UnreadableDocument, read_document
from alicia.memory.splitting import LONGEST
from alicia.storage import memories as stored
from alicia.storage.documents import chunks_of
from alicia.storage.pool import Pool
from support.scripted import ScriptedServer

GUIDE = """\
# Boat

General remarks about the boat.

## Engine

The engine is a Volvo Penta from 1998.
It takes 15W-40 oil.

```
# not a heading
start --slow
```

## Sails

The main sail was sewn in Kiel.
"""


def pdf(*pages: str) -> bytes:
    """A small PDF with a line of text on each page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids: list[str] = []
    for text in pages:
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects) + 2} 0 R "
            "/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(pages)} >>"
    out, places = io.BytesIO(b""), list[int]()
    out.write(b"%PDF-1.4\n")
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(f"{number} 0 obj\n{body}\nendobj\n".encode())
    start = out.tell()
    rows = "".join(f"{place:010} 00000 n \n" for place in places)
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{rows}".encode())
    out.write(f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


def test_markdown_is_split_by_its_headings() -> None:
    found = read_document("boat.md", GUIDE.encode())
    assert [piece.heading for piece in found] == ["Boat", "Boat > Engine", "Boat > Sails"]
    assert found[1].content.startswith("Boat > Engine\nThe engine is a Volvo Penta from 1998.")
    assert "# not a heading" in found[1].content


def test_plain_text_is_joined_to_pieces_that_are_not_too_long() -> None:
    text = "\n\n".join(f"Paragraph {n} says something. " + "More words follow here. " * 10 for n in range(12))
    found = read_document("notes.txt", text.encode())
    assert len(found) > 1
    assert all(len(piece.content) <= LONGEST for piece in found)
    assert " ".join(" ".join(piece.content.split()) for piece in found) == " ".join(text.split())


def test_a_paragraph_without_end_is_cut() -> None:
    found = read_document("notes.txt", ("x" * (3 * LONGEST)).encode())
    assert [len(piece.content) for piece in found] == [LONGEST] * 3


def test_html_is_read_without_scripts_and_navigation() -> None:
    page = (
        "<html><head><title>T</title><style>p {}</style></head><body><nav>Home</nav><h1>Tea &amp; more</h1>"
        "<p>Green tea is <b>steamed</b>.<br>Black tea is not.</p><script>evil()</script>"
        "<h2>Cups</h2><ul><li>Glass</li><li>Clay</li></ul></body></html>"
    )
    first, second = read_document("tea.html", page.encode())
    assert (first.heading, first.content) == (
        "Tea & more",
        "Tea & more\nGreen tea is steamed. Black tea is not.",
    )
    assert second.content == "Tea & more > Cups\nGlass\n\nClay"


def test_a_pdf_is_read_page_by_page() -> None:
    found = read_document("report.pdf", pdf("The first page is about whales.", "The second is about krill."))
    assert [(piece.page, piece.content) for piece in found] == [
        (1, "The first page is about whales."),
        (2, "The second is about krill."),
    ]


@pytest.mark.parametrize(
    ("name", "data"),
    [("film.mp4", b"x"), ("broken.pdf", b"%PDF-1.4 nonsense"), ("binary.txt", b"a\0b"), ("none", b"x")],
)
def test_what_cannot_be_read_is_refused_with_a_reason(name: str, data: bytes) -> None:
    with pytest.raises(UnreadableDocument, match=name):
        read_document(name, data)


def test_a_folder_gives_its_readable_files_in_order(tmp_path: Path) -> None:
    for name in ("b.md", "a.txt", "sub/c.html", ".git/d.md", "e.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert [path.relative_to(tmp_path).as_posix() for path in find_documents(tmp_path)] == [
        "a.txt",
        "b.md",
        "sub/c.html",
    ]
    assert list(find_documents(tmp_path / "a.txt")) == [tmp_path / "a.txt"]


async def state(pool: Pool, user: str) -> dict[MemoryId, str]:
    async with pool.connection() as conn:
        return {one.id: one.content for one in await stored.memories(conn, user, limit=100)}


async def test_an_imported_document_is_found_with_its_place(
    pool: Pool, embedder: LocalEmbedder, memory: Memory, user: str
) -> None:
    told: list[tuple[str, int, int]] = []
    done = await import_document(
        pool,
        embedder,
        user,
        "boat.md",
        GUIDE.encode(),
        tags=["boat"],
        progress=lambda name, done, total: told.append((name, done, total)),
    )
    assert (done.added, done.kept, done.removed) == (3, 0, 0)
    assert told == [("boat.md", 0, 3), ("boat.md", 3, 3)]
    found = (await memory.search(user, "Which oil does the engine take?"))[0].memory
    assert found.source_type == "document"
    assert found.tags == ["boat"]
    assert found.source_info["document"] == "boat.md"
    assert found.source_info["heading"] == "Boat > Engine"
    assert found.source_info["position"] == 1
    recalled = (await memory.recall(user, [], "Which oil does the engine of my boat take?"))[0]
    assert recalled.metadata["source"] == "boat.md"


async def test_a_second_import_changes_nothing(pool: Pool, embedder: LocalEmbedder, user: str) -> None:
    await import_document(pool, embedder, user, "boat.md", GUIDE.encode())
    before = await state(pool, user)
    done = await import_document(pool, embedder, user, "boat.md", GUIDE.encode())
    assert (done.added, done.kept, done.removed) == (0, 3, 0)
    assert await state(pool, user) == before


async def test_an_import_of_a_changed_file_changes_only_what_changed(
    pool: Pool, embedder: LocalEmbedder, user: str
) -> None:
    await import_document(pool, embedder, user, "boat.md", GUIDE.encode())
    before = await state(pool, user)
    changed = GUIDE.replace("Volvo Penta", "Yanmar").replace(
        "# Boat\n", "# Boat\n\n## Name\n\nShe is called Mia.\n\n# Boat\n"
    )
    done = await import_document(pool, embedder, user, "boat.md", changed.encode())
    assert (done.added, done.kept, done.removed) == (2, 2, 1)
    after = await state(pool, user)
    kept = before.keys() & after.keys()
    assert {before[one] for one in kept} == {after[one] for one in kept}
    assert len(kept) == 2
    async with pool.connection() as conn:
        chunks = await chunks_of(conn, user, "boat.md")
    assert [chunk.source_info["position"] for chunk in chunks] == [0, 1, 2, 3]


async def test_a_document_is_stored_even_when_the_embedder_fails(
    pool: Pool, scripted: ScriptedServer, user: str, embedder: LocalEmbedder
) -> None:
    scripted.fail("embeddings", times=3)
    async with EmbeddingServer(scripted.url, "one", retries=0) as server:
        done = await import_document(pool, server, user, "boat.md", GUIDE.encode())
    assert done.added == 3
    found = await Memory(pool, embedder).search(user, "Volvo Penta")
    assert found[0].memory.source_info["heading"] == "Boat > Engine"
