"""Stacks for tests of speech, and one that nobody else uses."""

import secrets
from collections.abc import Iterator

import pytest

from support import ground
from support.servers import LiveKitServer, PostgresServer
from support.stack import Stack


@pytest.fixture(scope="session")
def shared_speech_stack(
    tmp_path_factory: pytest.TempPathFactory, database_url: str, livekit: LiveKitServer
) -> Iterator[Stack]:
    """A stack whose speech models are scripted, too."""
    home = tmp_path_factory.mktemp("speech")
    with Stack(home, database_url, livekit, scripted_speech=True) as opened:
        yield opened


@pytest.fixture
def scripted_stack(shared_speech_stack: Stack) -> Stack:
    """The worker's stack with scripted speech, with nothing left of what earlier tests wrote."""
    shared_speech_stack.model.reset()
    return shared_speech_stack


@pytest.fixture(scope="module")
def place(
    postgres: PostgresServer, livekit: LiveKitServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """A database with one agent, so that no other finds what is left in it."""
    name = f"left_{secrets.token_hex(6)}"
    url = postgres.create(name, template=ground.ask("template")["name"])
    with Stack(tmp_path_factory.mktemp("left"), url, livekit) as opened:
        yield opened
    postgres.drop(name)
