"""`alicia api` as a process of its own, asked over HTTP, and watched."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2

from alicia.local.ports import choose


class Server:
    """The process, and a client of it."""

    def __init__(self, pid: int, client: httpx2.AsyncClient) -> None:
        self.pid = pid
        self.client = client

    def forget_peak(self) -> None:
        """Measure the most memory from now on."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def memory(self, line: str) -> int:
        """In bytes: `VmRSS` is what it has, `VmHWM` the most it had."""
        for each in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if each.startswith(line):
                return int(each.split()[1]) * 1024
        raise LookupError(line)


@asynccontextmanager
async def api_process(database_url: str) -> AsyncGenerator[Server]:
    """Runs while the block does; LiveKit is away, which no read needs."""
    port = choose()
    url = f"http://127.0.0.1:{port}"
    with TemporaryDirectory() as home:
        environ = {
            **os.environ,
            "ALICIA_HOME": home,
            "ALICIA_PORT": str(port),
            "ALICIA_DATABASE_URL": database_url,
            "ALICIA_LIVEKIT_URL": "ws://127.0.0.1:9",
            "ALICIA_LIVEKIT_API_KEY": "key",
            "ALICIA_LIVEKIT_API_SECRET": "a secret that nobody needs to keep",
            "ALICIA_LOG_LEVEL": "error",
        }
        command = Path(sys.executable).with_name("alicia")
        process = await asyncio.create_subprocess_exec(command, "api", env=environ)
        try:
            async with httpx2.AsyncClient(base_url=url, timeout=600) as client:
                await _answers(client)
                yield Server(process.pid, client)
        finally:
            process.terminate()
            await process.wait()


async def _answers(client: httpx2.AsyncClient) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                await client.get("/healthz")
                return
            except httpx2.TransportError:
                await asyncio.sleep(0.1)
