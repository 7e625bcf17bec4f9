"""The commands that run one part, as a deployment does, and their help."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from alicia.local import ports
from support.scripted import ScriptedServer
from support.servers import LiveKitServer
from support.up import PATIENCE, environment, eventually, run_alicia

pytestmark = pytest.mark.xdist_group("up")


def test_help_names_every_command(tmp_path: Path) -> None:
    shown = run_alicia("--help", home=tmp_path).stdout
    for command in ("up", "doctor", "api", "agent", "migrate"):
        assert f"\n  {command} " in shown


def test_help_imports_nothing_heavy() -> None:
    program = "import sys; import alicia.cli.main; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    heavy = {"asyncio", "livekit", "psycopg", "fastapi", "uvicorn", "openai", "structlog", "numpy", "rich"}
    assert heavy & set(loaded.split()) == set()


def test_migrate_applies_what_is_missing_and_then_has_nothing_to_do(
    tmp_path: Path, empty_database_url: str
) -> None:
    settings = {"ALICIA_DATABASE_URL": empty_database_url}
    first = run_alicia("migrate", home=tmp_path, settings=settings)
    assert (first.returncode, "migrations applied." in first.stdout) == (0, True), first.stderr
    assert run_alicia("migrate", home=tmp_path, settings=settings).stdout == "The database is up to date.\n"


@pytest.mark.parametrize("command", ["api", "agent", "migrate"])
def test_a_part_alone_names_the_variable_that_it_misses(tmp_path: Path, command: str) -> None:
    ended = run_alicia(command, home=tmp_path)
    assert ended.returncode == 1
    assert ended.stderr.startswith("alicia: Set ALICIA_")


def test_an_agent_alone_registers_and_ends_when_told(
    tmp_path: Path, database_url: str, livekit: LiveKitServer, scripted: ScriptedServer
) -> None:
    settings = {
        "ALICIA_LLM_URL": scripted.url,
        "ALICIA_DATABASE_URL": database_url,
        "ALICIA_LIVEKIT_URL": livekit.url,
        "ALICIA_LIVEKIT_API_KEY": livekit.api_key,
        "ALICIA_LIVEKIT_API_SECRET": livekit.api_secret,
    }
    log = tmp_path / "agent.log"
    with (
        log.open("w") as output,
        subprocess.Popen(
            [sys.executable, "-m", "alicia.cli.main", "agent"],
            env=environment(tmp_path, settings),
            stderr=output,
        ) as agent,
    ):
        eventually(lambda: "registered worker" in log.read_text() or agent.poll(), "the worker is registered")
        agent.send_signal(signal.SIGTERM)
        assert agent.wait(PATIENCE) == 0, log.read_text()


def test_an_agent_whose_livekit_stays_away_ends_so_that_another_is_started(
    tmp_path: Path, database_url: str, scripted: ScriptedServer
) -> None:
    settings = {
        "ALICIA_LLM_URL": scripted.url,
        "ALICIA_DATABASE_URL": database_url,
        "ALICIA_LIVEKIT_URL": f"ws://127.0.0.1:{ports.choose()}",
        "ALICIA_LIVEKIT_API_KEY": "alicia",
        "ALICIA_LIVEKIT_API_SECRET": "nobody-asks-for-it-while-it-is-away",
    }
    soon = "worker.AgentServer = functools.partial(worker.AgentServer, max_retry=1)"
    program = (
        f"import functools; from alicia.agent import worker; {soon}; from alicia.cli.main import app; app()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, "agent"],
        env=environment(tmp_path, settings),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (ended.returncode, "crashed" in ended.stderr) == (1, True), ended.stderr
