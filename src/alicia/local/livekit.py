"""The embedded LiveKit server, for this machine only."""

import asyncio
import contextlib
import json
import shutil
import signal
import socket
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import platformdirs

from alicia.errors import AliciaError
from alicia.local import ports
from alicia.local.private import write_private
from alicia.local.process import Process

VERSION = "1.13.5"

# The server asks a STUN server for its address at start. Nothing may leave this machine, so it asks the
# discard port of loopback; its own UDP port would answer and confuse it.
DUMMY_STUN = f"{ports.LOOPBACK}:9"


class LiveKitError(AliciaError):
    """The embedded LiveKit server could not be found or started; the text says what to change."""


class LiveKit:
    """One LiveKit server on loopback with one key; ports are chosen when none are given."""

    def __init__(
        self,
        home: Path,
        *,
        api_key: str,
        api_secret: str,
        port: int | None = None,
        udp_port: int | None = None,
        log: Path | None = None,
    ) -> None:
        self.home = home
        self.log = log or home / "livekit.log"
        self.api_key = api_key
        self.api_secret = api_secret
        self.port = ports.choose() if port is None else port
        self.udp_port = ports.choose(socket.SOCK_DGRAM) if udp_port is None else udp_port
        self._process: Process | None = None

    @property
    def process(self) -> Process:
        """The running server."""
        if self._process is None:
            raise LiveKitError("The LiveKit server has not been started.")
        return self._process

    @property
    def url(self) -> str:
        """The address that rooms are joined at."""
        return f"ws://{ports.LOOPBACK}:{self.port}"

    def settings(self) -> dict[str, Any]:
        """Return the server's configuration: loopback candidates only, one UDP port for all media."""
        return {
            "port": self.port,
            "bind_addresses": [ports.LOOPBACK],
            "rtc": {
                "node_ip": ports.LOOPBACK,
                "use_external_ip": False,
                "enable_loopback_candidate": True,
                "interfaces": {"includes": ["lo"]},
                "ips": {"includes": [f"{ports.LOOPBACK}/32"]},
                "udp_port": self.udp_port,
                "tcp_port": 0,
                "stun_servers": [DUMMY_STUN],
            },
            "keys": {self.api_key: self.api_secret},
            "logging": {"level": "info", "json": True},
        }

    async def start(self) -> None:
        """Start the server; it is up when `ready` says so."""
        self.home.mkdir(parents=True, exist_ok=True)
        config = self.home / "livekit.yaml"
        write_private(config, json.dumps(self.settings(), indent=1))  # JSON is YAML
        command = [str(program()), "--config", str(config)]
        self._process = Process.start(command, log=self.log, folder=self.home)

    async def ready(self, within: float = 30.0) -> None:
        """Return when the server answers; LiveKitError when it ends instead or takes too long."""
        try:
            async with asyncio.timeout(within):
                while not await self._answers():
                    if not self.process.alive:
                        words = self.process.last_words()
                        raise LiveKitError(f"LiveKit did not start: {words} (see {self.log})")
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise LiveKitError(f"LiveKit was not ready within {within:.0f} s (see {self.log})") from None

    async def stop(self, within: float = 3.0) -> bool:
        """Stop the server; rooms end. Returns whether it stopped by itself within the time."""
        if self._process is None:
            return True
        # The first signal lets the server wait for its participants to leave, the second does not.
        self._process.send(signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.2):
                await self._process.wait()
        return await self._process.stop(signal.SIGINT, within=within)

    async def _answers(self) -> bool:
        try:
            reader, writer = await asyncio.open_connection(ports.LOOPBACK, self.port)
        except OSError:
            return False
        try:
            writer.write(b"GET / HTTP/1.0\r\n\r\n")
            return b" 200 " in await reader.readline()
        except OSError:
            return False
        finally:
            writer.close()


@cache
def program() -> Path:
    """Return the pinned server: the one on PATH if it is that version, else the one that `make` built."""
    on_path = shutil.which("livekit-server")
    if on_path and _version(on_path) == VERSION:
        return Path(on_path)
    built = platformdirs.user_cache_path("alicia") / "bin" / f"livekit-server-{VERSION}"
    if built.exists():
        return built
    raise LiveKitError(
        f"There is no livekit-server {VERSION}: build it with `make livekit`, put it on PATH, "
        "or set ALICIA_LIVEKIT_URL to a server that runs elsewhere."
    )


def _version(command: str) -> str:
    """Return what `livekit-server --version` says, the last word of one line."""
    try:
        answer = subprocess.run(
            [command, "--version"], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    words = answer.stdout.split()
    return words[-1] if words else ""
