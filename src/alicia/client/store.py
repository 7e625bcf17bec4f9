"""What must outlive the program: cursor, clock and outbox of one device, in a small SQLite file.

A commit survives `kill -9` of the program as soon as it returns. The file is locked while it is open, so two
programs in the same conversation are two devices with a file each.
"""

import re
import secrets
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self

import msgspec
import platformdirs

from alicia.client.errors import StoreError

MEMORY: Final = ":memory:"
"""In place of a folder: keep nothing."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY CHECK (id = 1), value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS outbox (position INTEGER PRIMARY KEY AUTOINCREMENT, envelope BLOB NOT NULL);
"""
_NEW: Final = "new"


class State(msgspec.Struct, kw_only=True):
    """What is kept beside the outbox."""

    device: str
    conversation_id: str = ""
    """Empty until an agent has opened the conversation."""
    given: str = ""
    """By which id an agent will open it."""
    cursor: int | None = None
    clock: int = 0


class Store:
    """One open file; `path` is None in memory."""

    def __init__(self, connection: sqlite3.Connection, path: Path | None) -> None:
        self.path = path
        self._connection = connection
        row = connection.execute("SELECT value FROM state").fetchone()
        self.kept = row is not None
        """Whether there is something in it."""
        self.state = msgspec.json.decode(row[0], type=State) if row else State(device=secrets.token_hex(6))

    @classmethod
    def open(cls, folder: str | Path | None, server: str, conversation_id: str | None) -> Self:
        """A file of the conversation that no other program has open; rather one with something to send."""
        if folder == MEMORY:
            return cls(_connect(MEMORY), None)
        base = Path(folder) if folder is not None else platformdirs.user_data_path("alicia") / "client"
        place = base / re.sub(r"[^a-z0-9.-]+", "_", server.lower().partition("://")[2])
        try:
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
            if conversation_id is not None:
                cls._name_given(place, conversation_id)
            return cls._pick(place, conversation_id or _NEW)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"{place} can't keep the conversation's state: {error}") from error

    @classmethod
    def _name_given(cls, place: Path, conversation_id: str) -> None:
        """What was written for this conversation before an agent had opened it belongs to it."""
        for path in sorted(place.glob(f"{_NEW}.*sqlite3")):
            store = cls._try(path, _NEW)
            if store is None:
                continue
            if store.state.given == conversation_id:
                store.rename(conversation_id)
            store.close()

    @classmethod
    def _pick(cls, place: Path, name: str) -> Self:
        chosen: Self | None = None
        for path in _slots(place, name):
            if chosen is not None and not path.exists():
                return chosen
            store = cls._try(path, name)
            if store is None:
                continue
            if store.count() > 0 or not store.kept:
                if chosen is not None:
                    chosen.close()
                return store
            if chosen is None:
                chosen = store
            else:
                store.close()
        raise AssertionError("the slots never end")

    @classmethod
    def _try(cls, path: Path, name: str) -> Self | None:
        """The file, unless another program has it open."""
        try:
            store = cls(_connect(path), path)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                return None
            raise
        if name == _NEW and store.state.conversation_id:
            # Its program died between opening the conversation and renaming the file.
            store.rename(store.state.conversation_id)
            store.close()
            store = cls(_connect(path), path)
        return store

    def count(self) -> int:
        """How many bodies wait."""
        return self._connection.execute("SELECT count(*) FROM outbox").fetchone()[0]

    def outbox(self) -> list[bytes]:
        """The envelopes that wait, oldest first."""
        return [row[0] for row in self._connection.execute("SELECT envelope FROM outbox ORDER BY position")]

    def append(self, envelope: bytes) -> None:
        """Keep an envelope; once this returns, it is not lost with the process."""
        with self._transaction():
            self._connection.execute("INSERT INTO outbox (envelope) VALUES (?)", (envelope,))

    def save(self, state: State, *, confirmed: int = 0) -> None:
        """Keep the state, and let go of the oldest `confirmed` bodies, in one step."""
        self.state = state
        self.kept = True
        with self._transaction():
            self._connection.execute(
                """
                DELETE FROM outbox
                 WHERE position IN (SELECT position FROM outbox ORDER BY position LIMIT ?)
                """,
                (confirmed,),
            )
            self._connection.execute(
                "INSERT OR REPLACE INTO state VALUES (1, ?)", (msgspec.json.encode(state).decode(),)
            )

    @contextmanager
    def _transaction(self) -> Generator[None]:
        try:
            with self._connection:
                yield
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} can't keep the conversation's state: {error}") from error

    def rename(self, conversation_id: str) -> None:
        """The conversation has got its id: its file gets that name, if it has none yet."""
        if self.path is None or not self.path.name.startswith(f"{_NEW}."):
            return
        self._connection.close()
        for path in _slots(self.path.parent, conversation_id):
            if not path.exists():
                self.path = self.path.rename(path)
                break
        self._connection = _connect(self.path)

    def close(self) -> None:
        used = self.kept or self.count() > 0
        self._connection.close()
        if self.path is not None and not used:
            self.path.unlink(missing_ok=True)


def _slots(place: Path, name: str) -> Iterator[Path]:
    yield place / f"{name}.sqlite3"
    number = 2
    while True:
        yield place / f"{name}.{number}.sqlite3"
        number += 1


def _connect(path: Path | str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=0)
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.executescript(_SCHEMA)
        # The lock is taken by the first write and held from then on.
        with connection:
            connection.execute("DELETE FROM state WHERE id <> 1")
    except BaseException:
        connection.close()
        raise
    return connection
