"""Fixtures for every test: real servers shared by the run, and fresh names within them."""

import os
import secrets
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from alicia import ids
from alicia.storage.pool import Pool, make_pool
from support import ground
from support.scripted import ScriptedServer
from support.servers import LiveKitServer, PostgresServer
from support.stack import Stack

# No test may depend on how busy the machine is.
settings.register_profile("alicia", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("alicia")

_GROUND = pytest.StashKey[ground.Ground]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--durable", action="store_true", help="run the tests' PostgreSQL with fsync, as a real one does"
    )


def pytest_configure(config: pytest.Config) -> None:
    # A shell ignores it for background jobs, and every program that a test starts would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        opened = ground.Ground(durable=bool(config.getoption("--durable")))
        opened.open()
        config.stash[_GROUND] = opened


def pytest_unconfigure(config: pytest.Config) -> None:
    if opened := config.stash.get(_GROUND, None):
        opened.close()


@pytest.fixture(scope="session")
def postgres() -> PostgresServer:
    """The run's PostgreSQL server."""
    return ground.postgres()


@pytest.fixture(scope="session")
def database_url(postgres: PostgresServer) -> str:
    """A migrated database of this worker's own; tests keep apart by their users and conversations."""
    template = ground.ask("template")["name"]
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    return postgres.create(f"worker_{worker}_{secrets.token_hex(4)}", template=template)


@pytest.fixture(scope="session")
def quiet_database_url(postgres: PostgresServer) -> str:
    """The same without an agent, which would fill in the vectors that tests leave out."""
    template = ground.ask("template")["name"]
    return postgres.create(f"quiet_{secrets.token_hex(6)}", template=template)


@pytest.fixture
def fresh_database_url(postgres: PostgresServer) -> Iterator[str]:
    """A migrated database that only this test sees."""
    template = ground.ask("template")["name"]
    name = f"fresh_{secrets.token_hex(6)}"
    yield postgres.create(name, template=template)
    postgres.drop(name)


@pytest.fixture
def empty_database_url(postgres: PostgresServer) -> Iterator[str]:
    """A database without any schema that only this test sees."""
    name = f"empty_{secrets.token_hex(6)}"
    yield postgres.create(name)
    postgres.drop(name)


@pytest.fixture
def url_of_pool(request: pytest.FixtureRequest, database_url: str) -> str:
    """The database of the test's own stack, if it has one, else this worker's."""
    if "own_stack" not in request.fixturenames:
        return database_url
    own: Stack = request.getfixturevalue("own_stack")
    return own.database_url


@pytest.fixture
async def pool(url_of_pool: str) -> AsyncIterator[Pool]:
    """Connections to the database that the test is about."""
    async with make_pool(url_of_pool, max_size=4) as opened:
        yield opened


@pytest.fixture(scope="session")
def livekit() -> LiveKitServer:
    """The run's LiveKit server."""
    return ground.livekit()


@pytest.fixture
def room() -> ids.ConversationId:
    """The name of a room that no other test has: a fresh conversation's id."""
    return ids.new(ids.ConversationId)


@pytest.fixture
def user() -> str:
    """The name of a user whom no other test has."""
    return f"user-{secrets.token_hex(6)}"


@pytest.fixture(scope="session")
def shared_stack(
    tmp_path_factory: pytest.TempPathFactory, database_url: str, livekit: LiveKitServer
) -> Iterator[Stack]:
    """An API and an agent of this worker's own."""
    with Stack(tmp_path_factory.mktemp("stack"), database_url, livekit) as opened:
        yield opened


@pytest.fixture
def stack(shared_stack: Stack) -> Stack:
    """The worker's API and agent, with nothing left of what earlier tests scripted."""
    shared_stack.model.reset()
    return shared_stack


@pytest.fixture
def own_stack(tmp_path: Path, fresh_database_url: str, livekit: LiveKitServer) -> Iterator[Stack]:
    """An API and an agent that this test may kill: what they leave unfinished no other agent finds."""
    with Stack(tmp_path, fresh_database_url, livekit) as opened:
        yield opened


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    """An OpenAI-compatible server that answers as the test says."""
    with ScriptedServer() as server:
        yield server
