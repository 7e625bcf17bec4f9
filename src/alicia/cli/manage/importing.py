"""`alicia memory import`: documents by their pieces, and files with a memory per line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from alicia.cli.manage.server import Server
from alicia.errors import AliciaError

AT_ONCE: Final = 1_000
"""How many memories go to the server in one call."""


def import_documents(server: Server, path: Path, tags: list[str]) -> None:
    """Remember a file, or every readable one below a folder; those that are refused are named in the end."""
    from rich.progress import Progress

    from alicia.memory.documents import find_documents

    files = list(find_documents(path))
    if not files:
        raise AliciaError(f"There is nothing to import in {path}: text, Markdown, HTML and PDF can be read.")
    done = {"added": 0, "kept": 0, "removed": 0}
    refused: list[str] = []
    with Progress() as progress:
        task = progress.add_task("Importing", total=len(files))
        for file in files:
            name = str(file.relative_to(path)) if path.is_dir() else file.name
            progress.update(task, description=name)
            try:
                told = server.put("/documents", file.read_bytes(), name=name, tag=tags or None)
                done = {key: count + told[key] for key, count in done.items()}
            except (AliciaError, OSError) as error:
                refused.append(str(error))
            progress.advance(task)
    print(f"{done['added']} memories stored, {done['kept']} kept, {done['removed']} removed.")
    if refused:
        raise AliciaError("\n".join(refused))


def import_lines(server: Server, file: Path, tags: list[str]) -> None:
    """Remember the object on every line."""
    count = 0
    for batch in _batches(file, tags):
        count += len(server.post("/memories", batch)["ids"])
        print(f"\r{count} memories stored", end="", flush=True)
    print(f"\r{count} memories stored.")


def _batches(file: Path, tags: list[str]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                batch.append(_read(file, number, line, tags))
            if len(batch) == AT_ONCE:
                yield batch
                batch = []
    if batch:
        yield batch


def _read(file: Path, number: int, line: str, tags: list[str]) -> dict[str, Any]:
    import json

    try:
        new: dict[str, Any] = json.loads(line)
        return {**new, "tags": [*new.get("tags", []), *tags]}
    except (ValueError, TypeError) as error:
        raise AliciaError(f"{file.name}, line {number}: {error}") from error
