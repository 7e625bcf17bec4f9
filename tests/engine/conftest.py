"""A database for conversations in the test's own process."""

import secrets

import pytest

from support import ground
from support.servers import PostgresServer


@pytest.fixture(scope="session")
def database_url(postgres: PostgresServer) -> str:
    """One without an agent, which would go on with what these tests leave unfinished."""
    return postgres.create(f"engine_{secrets.token_hex(6)}", template=ground.ask("template")["name"])
