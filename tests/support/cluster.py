"""A whole cluster on this machine, configured by the files in `deploy/`, two of each kind."""

import asyncio
import configparser
import os
import secrets
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import platformdirs
import yaml

from alicia.local import ports
from alicia.local.livekit import LiveKit
from alicia.local.process import Process
from support.balancer import balancer
from support.scripted import ScriptedServer
from support.servers import PostgresServer
from support.stack import SECRET, Part

DEPLOY = Path(__file__).parents[2] / "deploy"
# Which address a node is reached at: deployed, NODE_IP says so.
THIS_MACHINE = ("node_ip", "enable_loopback_candidate", "interfaces", "ips")
PROGRAMS = platformdirs.user_cache_path("alicia") / "bin"


class Node(LiveKit):
    """LiveKit as deployed, one of several that share a Redis, on free ports and for this machine only."""

    def __init__(self, home: Path, redis_port: int, key: str, secret: str) -> None:
        super().__init__(home, api_key=key, api_secret=secret)
        self.metrics_port = ports.choose()
        self._tcp_port = ports.choose()
        self._redis_port = redis_port

    def settings(self) -> dict[str, Any]:
        deployed = yaml.safe_load((DEPLOY / "livekit.yaml").read_text())
        embedded = super().settings()
        deployed |= {"port": self.port, "keys": embedded["keys"]}
        deployed["redis"]["address"] = f"127.0.0.1:{self._redis_port}"
        deployed["prometheus"]["port"] = self.metrics_port
        deployed["rtc"] |= {"udp_port": self.udp_port, "tcp_port": self._tcp_port}
        deployed["rtc"] |= {name: embedded["rtc"][name] for name in THIS_MACHINE}
        return deployed


class Kept:
    """A program that is started again whenever it ends, as systemd does."""

    def __init__(self, start: Callable[[], Process]) -> None:
        self._start = start
        self._process = start()

    async def keep(self) -> None:
        """Until cancelled."""
        try:
            while True:
                await self._process.wait()
                await asyncio.sleep(0.2)
                self._process = self._start()
        finally:
            await self._process.kill()

    def kill(self) -> None:
        self._process.send(signal.SIGKILL)


def redis(home: Path, port: int) -> Kept:
    """Redis as deployed."""
    config = _redis_config(home, port)
    command = [str(PROGRAMS / "redis-server"), str(config)]
    return Kept(lambda: Process.start(command, log=home / "redis.log", folder=home))


def pgbouncer(home: Path, port: int, postgres: PostgresServer) -> Kept:
    """PgBouncer as deployed, before the run's PostgreSQL.

    Debian's 1.18 needs to be started again: a cancel request at the wrong moment ends it.
    """
    config = _pgbouncer_config(home, port, postgres)
    command = [str(PROGRAMS / "pgbouncer"), str(config)]
    # It does not run as root.
    identity = "namespace:1000" if os.geteuid() == 0 else "same"
    return Kept(lambda: Process.start(command, log=home / "pgbouncer.log", folder=home, identity=identity))


def _redis_config(home: Path, port: int) -> Path:
    home.mkdir()
    config = home / "redis.conf"
    config.write_text(f"{(DEPLOY / 'redis.conf').read_text()}\nport {port}\ndir {home}\n")
    return config


def _pgbouncer_config(home: Path, port: int, postgres: PostgresServer) -> Path:
    home.mkdir()
    users = home / "userlist.txt"
    users.write_text(f'"alicia" "{postgres.password}"\n')
    file = configparser.ConfigParser()
    file.read(DEPLOY / "pgbouncer.ini")
    file["databases"] = {"*": f"host=127.0.0.1 port={postgres.port}"}
    file["pgbouncer"].update({"listen_port": str(port), "auth_file": str(users)})
    config = home / "pgbouncer.ini"
    with config.open("w") as opened:
        file.write(opened)
    return config


async def listening(port: int) -> None:
    """Wait until something answers at this port."""
    async with asyncio.timeout(30):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.02)
            else:
                writer.close()
                return


class Cluster:
    """Two of each kind, behind one address for HTTP and one for LiveKit."""

    def __init__(self, home: Path, database_url: str, postgres: PostgresServer) -> None:
        self.home = home
        self.model = ScriptedServer()
        self.nodes: list[Node] = []
        self.apis: list[Part] = []
        self.agents: list[Part] = []
        self.url = ""
        self._postgres = postgres
        self._database = urlsplit(database_url).path
        self._settings: dict[str, str] = {}

    async def start(self, stack: AsyncExitStack) -> Self:
        stack.enter_context(self.model)
        redis_port, pgbouncer_port = ports.choose(), ports.choose()
        self.redis = redis(self.home / "redis", redis_port)
        self.pgbouncer = pgbouncer(self.home / "pgbouncer", pgbouncer_port, self._postgres)
        for kept in (self.redis, self.pgbouncer):
            stack.push_async_callback(_end, asyncio.create_task(kept.keep()))
        await asyncio.gather(listening(redis_port), listening(pgbouncer_port))
        secret = secrets.token_urlsafe(32)
        for number in range(2):
            node = Node(self.home / f"livekit{number}", redis_port, "cluster", secret)
            await node.start()
            stack.push_async_callback(node.stop)
            await node.ready()
            await listening(node.metrics_port)
            self.nodes.append(node)
        livekit = await stack.enter_async_context(balancer(*(node.port for node in self.nodes)))
        through = urlsplit(self._postgres.url("x"))._replace(path=self._database)
        address = through.geturl().replace(f":{self._postgres.port}", f":{pgbouncer_port}")
        self._settings = {
            "ALICIA_DATABASE_URL": address,
            "ALICIA_DATABASE_POOLER": "yes",
            "ALICIA_LIVEKIT_URL": f"ws://127.0.0.1:{livekit.port}",
            "ALICIA_LIVEKIT_API_KEY": "cluster",
            "ALICIA_LIVEKIT_API_SECRET": secret,
            "ALICIA_LLM_URL": self.model.url,
            "ALICIA_LLM_MODEL": self.model.model,
            "ALICIA_LLM_TOOLS": "native",
            "ALICIA_AUTH_SECRET": SECRET,
        }
        places = [ports.choose() for _ in range(2)]
        self.apis = [self._part("api", "Uvicorn running", ALICIA_PORT=str(port)) for port in places]
        self.agents = [self._part("agent", "registered worker", "embeddings ready") for _ in range(2)]
        for part in (*self.apis, *self.agents):
            stack.callback(part.end, signal.SIGKILL)
            part.start()
        for part in (*self.apis, *self.agents):
            await asyncio.to_thread(part.wait_ready)
        http = await stack.enter_async_context(balancer(*places))
        self.url = f"http://127.0.0.1:{http.port}"
        return self

    def _part(self, command: str, *ready: str, **more: str) -> Part:
        return Part(command, self.home, self._settings | more, *ready)


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


@asynccontextmanager
async def cluster(home: Path, database_url: str, postgres: PostgresServer) -> AsyncGenerator[Cluster]:
    """Runs while the block does."""
    async with AsyncExitStack() as stack:
        yield await Cluster(home, database_url, postgres).start(stack)
