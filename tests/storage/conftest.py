"""A pool that reads rows as the application does."""

from collections.abc import AsyncIterator

import pytest

from alicia.storage.pool import Connection, Pool, make_pool


@pytest.fixture(scope="session")
def database_url(quiet_database_url: str) -> str:
    return quiet_database_url


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[Pool]:
    async with make_pool(database_url, max_size=4) as opened:
        yield opened


@pytest.fixture
async def conn(pool: Pool) -> AsyncIterator[Connection]:
    async with pool.connection() as connection:
        yield connection
