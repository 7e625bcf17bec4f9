"""Stacks for tests of speech."""

from collections.abc import Iterator

import pytest

from support.servers import LiveKitServer
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
