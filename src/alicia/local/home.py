"""ALICIA_HOME: the one folder with the data, the logs and the secrets of an embedded stack."""

import fcntl
import json
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from alicia.errors import AliciaError
from alicia.local import ports
from alicia.local.private import write_private


class HomeError(AliciaError):
    """The home folder cannot be used; the text says why."""


@dataclass(frozen=True)
class Secrets:
    """Made at random at the first start and kept for good."""

    postgres_password: str = field(repr=False)
    livekit_api_key: str = field(repr=False)
    livekit_api_secret: str = field(repr=False)
    llm_api_key: str = field(repr=False)


class Home:
    """The folder and what lies where in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.logs = path / "logs"
        self.postgres = path / "postgres"
        self.livekit = path / "livekit"

    def make(self) -> None:
        """Make the folder, for its owner only; HomeError if it cannot be written."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            for folder in (self.logs, self.postgres, self.livekit):
                folder.mkdir(mode=0o700, exist_ok=True)
            (self.path / ".writable").touch()
            (self.path / ".writable").unlink()
        except OSError as error:
            raise HomeError(
                f"{self.path} cannot be written ({error.strerror}): "
                "set ALICIA_HOME to a folder of yours, or mend its permissions."
            ) from None

    @contextmanager
    def hold(self) -> Generator[None]:
        """Keep every other supervisor out; the lock goes with this process, however it ends."""
        with (self.path / "lock").open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise HomeError(
                    f"Alicia already runs in {self.path}, as process {self.holder() or 'unknown'}: "
                    "stop that one first, or set ALICIA_HOME to another folder."
                ) from None
            lock.truncate(0)
            lock.write(f"{os.getpid()}\n")
            lock.flush()
            yield
            lock.truncate(0)

    def holder(self) -> int | None:
        """Return the pid that the lock file names."""
        try:
            return int((self.path / "lock").read_text())
        except (FileNotFoundError, ValueError):
            return None

    def is_held(self) -> bool:
        """Whether a supervisor runs in this home now."""
        try:
            with (self.path / "lock").open("r") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def secrets(self) -> Secrets:
        """Return the secrets, making them at the first start."""
        path = self.path / "secrets.json"
        kept = _read_json(path)
        made = {
            "postgres_password": secrets.token_urlsafe(24),
            "livekit_api_key": f"API{secrets.token_hex(8)}",
            "livekit_api_secret": secrets.token_urlsafe(32),
            "llm_api_key": secrets.token_urlsafe(24),
        }
        found = Secrets(**{**made, **{name: value for name, value in kept.items() if name in made}})
        if kept != asdict(found):
            write_private(path, json.dumps(asdict(found), indent=1))
        return found

    def ports(self) -> dict[str, int]:
        """Return the ports that embedded servers had last."""
        return {name: int(port) for name, port in _read_json(self.path / "ports.json").items()}

    def remember_ports(self, chosen: dict[str, int]) -> None:
        """Keep the ports for the next start, so that addresses stay the same where they can."""
        if chosen != self.ports():
            write_private(self.path / "ports.json", json.dumps(chosen, indent=1))


def settle_port(name: str, variable: str, wanted: int | None, remembered: dict[str, int]) -> int:
    """Return the port for an embedded server: the one asked for, else the last one, else any free one."""
    if wanted is not None:
        if obstacle := ports.obstacle(wanted):
            raise HomeError(f"Port {wanted} {obstacle}: set {variable} to a free one.")
        return wanted
    last = remembered.get(name)
    return ports.choose() if last is None or ports.obstacle(last) else last


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except ValueError:
        raise HomeError(f"{path} is damaged: restore it from a backup, or remove it.") from None
