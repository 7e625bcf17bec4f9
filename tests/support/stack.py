"""The API and an agent as child processes on the run's servers, with a model that the test scripts."""

import contextlib
import secrets
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx2
import jwt
import psutil

from alicia.local import ports
from alicia.local.process import leashed
from support.scripted import ScriptedServer
from support.servers import LiveKitServer
from support.up import PATIENCE, environment, eventually

SECRET = "a secret that only the tests of Alicia know"


class Part:
    """One command of Alicia's as a process, which a test may kill and start again."""

    def __init__(self, command: str, home: Path, settings: dict[str, str], *ready: str) -> None:
        self.log = home / f"{command}-{secrets.token_hex(3)}.log"
        self._command, self._home, self._ready = command, home, ready
        self.settings = settings
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        command = [sys.executable, "-m", "alicia.cli.main", self._command]
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                # A run that is killed leaves nothing behind.
                leashed(command, signal.SIGKILL, "same"),
                env=environment(self._home, self.settings),
                stdout=output,
                stderr=output,
            )

    def wait_ready(self) -> None:
        process = self._process
        assert process is not None

        def settled() -> bool:
            assert process.poll() is None, self.log.read_text()
            said = self.log.read_text()
            return all(words in said for words in self._ready)

        eventually(settled, f"{self._command} is ready")

    @property
    def memory(self) -> int:
        """Resident bytes."""
        return psutil.Process(self.pid).memory_info().rss

    def send(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def wait(self) -> int:
        """Wait for the end; the exit code."""
        assert self._process is not None
        return self._process.wait(PATIENCE)

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; the exit code."""
        if self._process is None:
            return 0
        if self._process.poll() is None:
            self._process.send_signal(number)
        code = self._process.wait(PATIENCE)
        self._process = None
        return code


class Stack:
    """An API with one agent. Its agents have a name of their own, so no other stack's rooms reach them."""

    def __init__(
        self,
        home: Path,
        database_url: str,
        livekit: LiveKitServer,
        *,
        auth: bool = True,
        host: str = "127.0.0.1",
        scripted_speech: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.home = home
        self.livekit = livekit
        self.database_url = database_url
        self.port = ports.choose()
        self.url = f"http://{host}:{self.port}"
        self._host = host
        self.model = ScriptedServer()
        self._auth = auth
        self._scripted_speech = scripted_speech
        self._settings = settings or {}
        self._name = f"alicia-{secrets.token_hex(4)}"
        self._agents: list[Part] = []

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as opened:
            opened.enter_context(self.model)
            self.api = self._part("api", "Uvicorn running")
            opened.callback(self._end)
            self.api.start()
            self.start_agent()
            self.api.wait_ready()
            self._opened = opened.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()

    def start_agent(self, database_url: str | None = None) -> Part:
        """Another agent, ready to take rooms, if need be with a way of its own to the database."""
        agent = self._part("agent", "registered worker", "embeddings ready")
        if database_url:
            agent.settings["ALICIA_DATABASE_URL"] = database_url
        self._agents.append(agent)
        agent.start()
        agent.wait_ready()
        return agent

    def replace_agent(self) -> None:
        """Kill the newest agent, and start another only then: what it waits for has its time, too."""
        self.agent.end(signal.SIGKILL)
        self.start_agent()

    @property
    def agent(self) -> Part:
        """The newest agent."""
        return self._agents[-1]

    def hears(self, track_sid: str) -> bool:
        """Whether an agent has begun to listen to this microphone; what is said before that is lost."""
        lines = (line for agent in self._agents for line in agent.log.read_text().splitlines())
        return any(track_sid in line and '"listening"' in line for line in lines)

    def token(self, user: str) -> str:
        """A bearer token for the API."""
        claims = {"sub": user, "exp": 2_000_000_000}
        return jwt.encode(claims, SECRET, algorithm="HS256")

    def caller(self, user: str) -> httpx2.AsyncClient:
        """The API as this user may call it."""
        headers = {"Authorization": f"Bearer {self.token(user)}"}
        return httpx2.AsyncClient(base_url=f"{self.url}/api/v1", headers=headers, timeout=30)

    def _part(self, command: str, *ready: str) -> Part:
        settings = {
            "ALICIA_HOST": self._host,
            "ALICIA_PORT": str(self.port),
            "ALICIA_DATABASE_URL": self.database_url,
            "ALICIA_LIVEKIT_URL": self.livekit.url,
            "ALICIA_LIVEKIT_API_KEY": self.livekit.api_key,
            "ALICIA_LIVEKIT_API_SECRET": self.livekit.api_secret,
            "ALICIA_LLM_URL": self.model.url,
            "ALICIA_LLM_MODEL": self.model.model,
            "ALICIA_LLM_TOOLS": "native",
            "ALICIA_AGENT_NAME": self._name,
            **({"ALICIA_AUTH_SECRET": SECRET} if self._auth else {}),
            **(
                {f"ALICIA_{each}_URL": self.model.url for each in ("STT", "TTS")}
                if self._scripted_speech
                else {}
            ),
            **self._settings,
        }
        return Part(command, self.home, settings, *ready)

    def _end(self) -> None:
        for part in (*self._agents, self.api):
            with contextlib.suppress(ProcessLookupError):
                part.end(signal.SIGKILL)
