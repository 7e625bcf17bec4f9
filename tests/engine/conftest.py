"""Conversations in the test's own process: their database, and what they know."""

import asyncio
import secrets
from collections.abc import Sequence

import pytest

from alicia.engine.history import History
from support import ground
from support.servers import PostgresServer


@pytest.fixture(scope="session")
def database_url(postgres: PostgresServer) -> str:
    """One without an agent, which would go on with what these tests leave unfinished."""
    return postgres.create(f"engine_{secrets.token_hex(6)}", template=ground.ask("template")["name"])


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set as soon as an agent knows of an erasure."""
    done, forget = asyncio.Event(), History.forget

    def note(history: History, erased: Sequence[str]) -> None:
        forget(history, erased)
        done.set()

    monkeypatch.setattr(History, "forget", note)
    return done
