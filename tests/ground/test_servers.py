"""The run's own PostgreSQL and LiveKit."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import psycopg

from alicia.storage.pool import Pool
from support.servers import PostgresServer


def test_the_runs_postgresql_is_version_18_with_pgvector(empty_database_url: str) -> None:
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("CREATE EXTENSION vector")
        assert connection.info.server_version // 10000 == 18
        row = connection.execute("SELECT '[3,4]'::vector <-> '[0,0]'").fetchone()
        assert row == (5.0,)


def test_an_empty_database_is_gone_after_its_test_although_someone_is_connected(
    postgres: PostgresServer,
) -> None:
    url = postgres.create("empty_left_open")
    with psycopg.connect(url):
        postgres.drop("empty_left_open")
    with psycopg.connect(postgres.url("postgres")) as connection:
        names = connection.execute("SELECT datname FROM pg_database").fetchall()
    assert ("empty_left_open",) not in names


_RUN = """
from support import ground
owner = ground.Ground()
owner.open()
print(ground.postgres().port, owner.home, flush=True)
input()
owner.close()
"""


def start_a_run() -> tuple[subprocess.Popen[str], psutil.Process, Path]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    run = subprocess.Popen(
        [sys.executable, "-c", _RUN],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert run.stdout is not None
    _, home = run.stdout.readline().split()
    (server,) = psutil.Process(run.pid).children()
    return run, server, Path(home)


def test_the_servers_end_with_the_run_and_leave_no_file() -> None:
    run, server, home = start_a_run()
    run.communicate("\n")
    assert run.returncode == 0
    assert not server.is_running()
    assert not home.exists()


def test_no_server_survives_a_run_that_was_killed() -> None:
    run, server, _ = start_a_run()
    run.send_signal(signal.SIGKILL)
    run.communicate()
    psutil.wait_procs([server], timeout=20)
    assert not server.is_running()


async def test_a_worker_has_a_migrated_database_of_its_own(pool: Pool) -> None:
    async with pool.connection() as connection:
        row = await (
            await connection.execute("SELECT current_database(), count(*) FROM alicia_messages")
        ).fetchone()
    assert row is not None
    assert row[0].startswith("worker_")


def test_a_fresh_database_is_migrated_and_empty(fresh_database_url: str) -> None:
    with psycopg.connect(fresh_database_url) as connection:
        assert connection.execute("SELECT count(*) FROM alicia_conversations").fetchone() == (0,)
