"""Clients of the worker's server, and what the database has of their conversations."""

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

import psycopg
import pytest

import alicia
from alicia.client import Conversation
from support.servers import LiveKitServer
from support.stack import Stack


class Connect(Protocol):
    """`alicia.connect` to the test's server, as the test's user, with a store of the test's own."""

    def __call__(
        self, conversation_id: str | None = None, *, server: str | None = None, **options: Any
    ) -> AbstractAsyncContextManager[Conversation]: ...


class Journal(Protocol):
    """The envelopes of a conversation as the database has them."""

    async def __call__(self, conversation: Conversation) -> list[bytes]: ...


@pytest.fixture
def connect(stack: Stack, user: str, tmp_path: Path) -> Connect:
    def to_server(
        conversation_id: str | None = None, *, server: str | None = None, **options: Any
    ) -> AbstractAsyncContextManager[Conversation]:
        settings: dict[str, Any] = {"token": stack.token(user), "store": tmp_path / "store", **options}
        return alicia.connect(server or stack.url, conversation_id, **settings)

    return to_server


@pytest.fixture
def journal(database_url: str) -> Journal:
    return journal_of(database_url)


@pytest.fixture
def lone_stack(tmp_path: Path, fresh_database_url: str, livekit: LiveKitServer) -> Iterator[Stack]:
    """A server with a database of its own, so that no other worker finishes what its agents leave behind."""
    with Stack(tmp_path, fresh_database_url, livekit) as opened:
        yield opened


def journal_of(database_url: str) -> Journal:
    async def read(conversation: Conversation) -> list[bytes]:
        async with await psycopg.AsyncConnection.connect(database_url) as connection:
            cursor = await connection.execute(
                """
                SELECT envelope
                  FROM alicia_stanzas
                 WHERE conversation_id = %s
                 ORDER BY stanza_id DESC
                """,
                (conversation.id,),
            )
            return [bytes(row[0]) for row in await cursor.fetchall()]

    return read
