"""Waiting for a connection while whoever waits is cancelled."""

import asyncio

import pytest

from alicia.storage.pool import make_pool


@pytest.mark.parametrize("steps", range(8))
async def test_who_is_cancelled_just_as_a_connection_comes_ends(database_url: str, steps: int) -> None:
    async def work() -> None:
        async with pool.connection():
            await asyncio.get_running_loop().create_future()

    async with make_pool(database_url, max_size=1) as pool:
        async with pool.connection():
            waiting = asyncio.create_task(work())
            for _ in range(20):
                await asyncio.sleep(0)
            assert pool.get_stats()["requests_waiting"]
        for _ in range(steps):
            await asyncio.sleep(0)
        waiting.cancel()
        done, _ = await asyncio.wait([waiting], timeout=10)
        assert done
        assert waiting.cancelled()
        async with pool.connection() as conn:
            await conn.execute("SELECT 1")
