"""A conversation to write to."""

from collections.abc import AsyncIterator

import pytest

from alicia.storage.pool import Pool, make_pool
from support.talk import Talk


@pytest.fixture(scope="session")
def database_url(quiet_database_url: str) -> str:
    return quiet_database_url


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[Pool]:
    async with make_pool(database_url, max_size=4) as opened:
        yield opened


@pytest.fixture
async def talk(pool: Pool, user: str) -> Talk:
    return await Talk.open(pool, user)
