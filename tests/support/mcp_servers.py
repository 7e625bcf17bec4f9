"""Starting the MCP servers of the tests, and reaching them."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import msgspec

from alicia.tools.mcp.config import HttpServer, StdioServer
from support.mcp_http import bound

FOLDER = str(Path(__file__).parent.parent)


def stdio(name: str = "near", *, timeout: float | None = None) -> StdioServer:
    """A child that speaks MCP on its standard input and output."""
    args = ("-m", "support.mcp_stdio")
    env = {"PYTHONPATH": FOLDER}
    return StdioServer(name=name, command=sys.executable, args=args, env=env, timeout=timeout)


def write_config(path: Path, *servers: StdioServer | HttpServer) -> Path:
    """The file that names these servers to an agent."""
    entries = {server.name: _entry(server) for server in servers}
    path.write_text(json.dumps({"mcpServers": entries}))
    return path


def _entry(server: StdioServer | HttpServer) -> dict[str, Any]:
    fields = {name: value for name, value in msgspec.to_builtins(server).items() if value and name != "name"}
    if seconds := fields.pop("timeout", None):
        fields["timeoutMs"] = round(seconds * 1000)
    if fields.pop("allow_private", False):
        fields["allowPrivate"] = True
    return fields


class HttpProcess:
    """A server behind an address that stays the same when it is killed and started again."""

    def __init__(self, name: str = "far") -> None:
        self._holder = bound()
        self._process: subprocess.Popen[bytes] | None = None
        self.port: int = self._holder.getsockname()[1]
        url = f"http://127.0.0.1:{self.port}/mcp"
        self.config = HttpServer(name=name, url=url, allow_private=True)

    def start(self) -> None:
        command = [sys.executable, "-m", "support.mcp_http", str(self.port)]
        self._process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": FOLDER})

    async def listening(self) -> None:
        """Wait until connections are taken."""
        while True:
            with contextlib.suppress(ConnectionError):
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.close()
                await writer.wait_closed()
                return

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self) -> None:
        self.kill()
        self._holder.close()


@contextlib.contextmanager
def http(name: str = "far") -> Generator[HttpProcess]:
    """A server process that is killed in the end."""
    process = HttpProcess(name)
    process.start()
    try:
        yield process
    finally:
        process.close()
