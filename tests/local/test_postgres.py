"""The embedded PostgreSQL in its folder."""

import os
import pwd
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psycopg
import pytest

from alicia.local import identity
from alicia.local import postgres as module
from alicia.local.postgres import Postgres, PostgresError

Identity = Callable[[Path], str]


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Postgres]:
    server = Postgres(tmp_path / "pg", password="open/sesame %")
    yield server
    await server.stop()


async def test_a_cluster_is_made_once_and_keeps_what_is_written(server: Postgres) -> None:
    assert await server.initialise() is True
    await server.start()
    await server.ready()
    with psycopg.connect(server.url("postgres")) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute("CREATE TABLE kept AS SELECT '[1,2]'::vector AS v")
    assert await server.stop() is True
    assert await server.initialise() is False
    await server.start()
    await server.ready()
    with psycopg.connect(server.url("postgres")) as connection:
        assert connection.execute("SELECT v::text FROM kept").fetchall() == [("[1,2]",)]


async def test_it_is_utf8_with_durable_commits_and_wants_the_password(server: Postgres) -> None:
    await server.initialise()
    await server.start()
    await server.ready()
    with psycopg.connect(server.url("postgres")) as connection:
        names = ["server_encoding", "synchronous_commit", "fsync", "listen_addresses", "timezone"]
        found = [connection.execute("SELECT current_setting(%s)", [name]).fetchone() for name in names]
        assert found == [("UTF8",), ("on",), ("on",), ("127.0.0.1",), ("UTC",)]
    wrong = f"postgresql://alicia:wrong@127.0.0.1:{server.port}/postgres"
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(wrong)


async def test_it_starts_again_after_it_was_killed_with_a_client_connected(server: Postgres) -> None:
    await server.initialise()
    await server.start()
    await server.ready()
    with psycopg.connect(server.url("postgres")):
        server.process.send(signal.SIGKILL)
        await server.process.wait()
        await server.start()
        await server.ready()
    with psycopg.connect(server.url("postgres")) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


async def test_data_of_another_version_is_named(server: Postgres) -> None:
    server.data.mkdir(parents=True)
    (server.data / "PG_VERSION").write_text("16\n")
    with pytest.raises(PostgresError, match="was made by PostgreSQL 16"):
        await server.initialise()


async def test_a_making_that_was_cut_short_is_begun_anew(server: Postgres) -> None:
    half = server.home / "data.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    assert await server.initialise() is True


async def test_a_server_that_does_not_start_says_why(server: Postgres) -> None:
    await server.initialise()
    (server.data / "postgresql.conf").write_text("nonsense = 1\n")
    await server.start()
    with pytest.raises(PostgresError, match="did not start"):
        await server.ready()


async def test_root_without_namespaces_runs_it_as_another_user(
    server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the tests run as root; for others there is nothing to change, and the same server must run."""
    nobody = pwd.getpwnam("nobody")
    other = f"user:{nobody.pw_uid}:{nobody.pw_gid}" if os.geteuid() == 0 else "same"

    def without_namespaces(_: Path) -> str:
        return other

    monkeypatch.setattr(module, "identity_for", without_namespaces)
    await server.initialise()
    await server.start()
    await server.ready()
    assert _owner(server.process.pid) == (nobody.pw_uid if os.geteuid() == 0 else os.geteuid())
    assert await server.stop() is True

    # The same folder, when namespaces are allowed again.
    monkeypatch.setattr(module, "identity_for", identity.identity_for)
    await server.start()
    await server.ready()


def _owner(pid: int) -> int:
    return Path(f"/proc/{pid}").stat().st_uid
