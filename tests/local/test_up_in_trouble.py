"""What `alicia up` does when something is wrong, or ends before its time."""

import json
import os
import signal
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

import pytest

from alicia.local import ports
from support.scripted import ScriptedServer
from support.servers import LiveKitServer
from support.up import Up, eventually, processes_of, run_alicia

pytestmark = pytest.mark.xdist_group("up")


@pytest.fixture
def model(scripted: ScriptedServer) -> Mapping[str, str]:
    """Settings that spare a stack its own language model."""
    return {"ALICIA_LLM_URL": scripted.url, "ALICIA_LLM_MODEL": "scripted"}


def test_nothing_survives_a_kill_of_the_supervisor_and_the_next_start_recovers(
    tmp_path: Path, model: Mapping[str, str]
) -> None:
    home = tmp_path / "home"
    with Up(home, model) as first:
        first.ready()
        assert len(first.children()) == 4
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
        eventually(lambda: not processes_of(home), "no process is left")
    # As after a reboot: the file names a process that lives, but it is not PostgreSQL.
    (home / "postgres" / "data" / "postmaster.pid").write_text("1\n")
    with Up(home, model) as second:
        assert second.ready().get("/readyz")[0] == 200
        assert second.end(signal.SIGINT) == 0


def test_a_kill_while_the_data_folder_is_made_leaves_nothing_in_the_way(
    tmp_path: Path, model: Mapping[str, str]
) -> None:
    # The making may be over before we look: then it is cut short in another home.
    home = next(each for each in _homes(tmp_path) if _cut_short(each, model))
    with Up(home, model) as second:
        assert "data folder made" in second.wait_for("^PostgreSQL ")
        assert second.end() == 0


def test_a_signal_during_the_start_ends_it_cleanly(tmp_path: Path, model: Mapping[str, str]) -> None:
    # Everything may be ready before the signal comes: then it is sent to another start.
    for home in _homes(tmp_path):
        with Up(home, model) as up:
            up.wait_for("^LiveKit ")
            assert up.end(signal.SIGTERM) == 0
        assert up.lines[-1] == "Stopped."
        if "Alicia is ready" not in up.output:
            break


def test_a_reader_that_goes_away_does_not_end_the_stack(tmp_path: Path, model: Mapping[str, str]) -> None:
    with Up(tmp_path / "home", model, only_until="^Alicia is ready") as up:
        up.ready()
        killed = up.children()["LiveKit"]
        os.kill(killed, signal.SIGKILL)
        eventually(lambda: up.children().get("LiveKit", killed) != killed, "LiveKit was started again")
        eventually(lambda: up.get("/readyz")[0] == 200, "LiveKit is back")
        assert up.end() == 0


def test_servers_of_ones_own_are_used_and_not_started(
    tmp_path: Path, model: Mapping[str, str], empty_database_url: str, livekit: LiveKitServer
) -> None:
    settings = {
        **model,
        "ALICIA_DATABASE_URL": empty_database_url,
        "ALICIA_LIVEKIT_URL": livekit.url,
        "ALICIA_LIVEKIT_API_KEY": livekit.api_key,
        "ALICIA_LIVEKIT_API_SECRET": livekit.api_secret,
    }
    with Up(tmp_path / "home", settings) as up:
        up.ready()
        assert up.children().keys() == {"API", "Agent"}
        for part in ("PostgreSQL", "LiveKit", "Language model"):
            assert "yours at 127.0.0.1" in up.wait_for(f"^{part} ")
        assert up.get("/readyz")[0] == 200
        assert up.end() == 0


def test_a_home_that_cannot_be_written_is_named_with_its_variable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = run_alicia("up", home=tmp_path / "file" / "home")
    assert ended.returncode == 1
    assert f"{tmp_path / 'file' / 'home'} cannot be written" in ended.stderr
    assert "ALICIA_HOME" in ended.stderr


def test_a_database_that_does_not_answer_is_named_with_its_variable(
    tmp_path: Path, model: Mapping[str, str]
) -> None:
    url = f"postgresql://someone:sesame@127.0.0.1:{ports.choose()}/nothing"
    ended = run_alicia("up", home=tmp_path, settings={**model, **_own_port(), "ALICIA_DATABASE_URL": url})
    assert ended.returncode == 1
    assert "PostgreSQL: cannot use the database of ALICIA_DATABASE_URL: connection failed" in ended.stderr
    assert "sesame" not in ended.stdout + ended.stderr
    assert processes_of(tmp_path) == {}


def test_an_address_that_is_none_is_named_without_repeating_it(tmp_path: Path) -> None:
    ended = run_alicia("up", home=tmp_path, settings={"ALICIA_DATABASE_URL": "mysql://root:sesame@db"})
    assert ended.returncode == 1
    assert "ALICIA_DATABASE_URL must be an address that starts with postgresql://" in ended.stderr
    assert "sesame" not in ended.stderr


def test_keys_that_livekit_does_not_know_are_named_by_their_variables(
    tmp_path: Path, model: Mapping[str, str], livekit: LiveKitServer
) -> None:
    settings = {
        **model,
        **_own_port(),
        "ALICIA_LIVEKIT_URL": livekit.url,
        "ALICIA_LIVEKIT_API_KEY": livekit.api_key,
        "ALICIA_LIVEKIT_API_SECRET": "w" * 32,
    }
    ended = run_alicia("up", home=tmp_path, settings=settings)
    assert ended.returncode == 1
    assert "does not accept ALICIA_LIVEKIT_API_KEY and ALICIA_LIVEKIT_API_SECRET" in ended.stderr


def test_a_language_model_that_does_not_answer_is_named_by_its_variable(tmp_path: Path) -> None:
    settings = {**_own_port(), "ALICIA_LLM_URL": f"http://127.0.0.1:{ports.choose()}/v1"}
    ended = run_alicia("up", home=tmp_path, settings=settings)
    assert ended.returncode == 1
    assert "Language model: nothing answers at ALICIA_LLM_URL" in ended.stderr


def test_a_part_that_fails_names_its_log_and_stops_the_rest(tmp_path: Path, model: Mapping[str, str]) -> None:
    data = tmp_path / "postgres" / "data"
    data.mkdir(parents=True, mode=0o700)
    (data / "PG_VERSION").write_text("18\n")
    ended = run_alicia("up", home=tmp_path, settings={**model, **_own_port()})
    log = tmp_path / "logs" / "postgres.log"
    assert ended.returncode == 1
    assert "PostgreSQL did not start" in ended.stderr
    assert str(log) in ended.stderr
    assert log.exists()
    assert processes_of(tmp_path) == {}


def test_an_address_that_others_reach_is_refused_without_a_login(tmp_path: Path) -> None:
    ended = run_alicia("up", home=tmp_path, settings={"ALICIA_HOST": "0.0.0.0"})
    assert ended.returncode == 1
    assert "ALICIA_AUTH_SECRET" in ended.stderr


@pytest.mark.parametrize("command", ["up", "agent"])
def test_a_mistake_in_the_file_of_mcp_servers_is_told_before_anything_starts(
    tmp_path: Path, command: str
) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"files": {}}}')
    settings = {**_own_port(), "ALICIA_MCP_CONFIG": str(file), **ELSEWHERE}
    ended = run_alicia(command, home=tmp_path / "home", settings=settings)
    assert ended.returncode == 1
    assert "ALICIA_MCP_CONFIG: the server 'files' must have either a command or a url." in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_doctor_looks_for_the_programs_of_mcp_servers(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    settings = {**_own_port(), "ALICIA_MCP_CONFIG": str(file), **ELSEWHERE}
    for command, ok in (("sh", True), ("/bin/sh", True), ("no-such-program", False)):
        file.write_text(json.dumps({"mcpServers": {"files": {"command": command}}}))
        ended = run_alicia("doctor", "--json", home=tmp_path, settings=settings)
        found = {each["part"]: each for each in json.loads(ended.stdout)}
        assert found["MCP servers"]["ok"] is ok, command
        assert ok or "there is no program no-such-program" in found["MCP servers"]["text"]


def test_the_doctor_names_what_is_wrong_and_fails(tmp_path: Path) -> None:
    settings = {
        **_own_port(),
        "ALICIA_DATABSE_URL": "x",
        "ALICIA_LLM_URL": f"http://127.0.0.1:{ports.choose()}/v1",
    }
    ended = run_alicia("doctor", "--json", home=tmp_path, settings=settings)
    assert ended.returncode == 1
    findings = {finding["part"]: finding for finding in json.loads(ended.stdout)}
    assert "did you mean ALICIA_DATABASE_URL?" in findings["Settings"]["text"]
    assert "no answer from the language model" in findings["Language model"]["text"]
    assert {part for part, finding in findings.items() if not finding["ok"]} == {"Settings", "Language model"}


ELSEWHERE = {
    "ALICIA_DATABASE_URL": "postgresql://nobody@127.0.0.1:9/nothing",
    "ALICIA_LIVEKIT_URL": "ws://127.0.0.1:9",
    "ALICIA_LIVEKIT_API_KEY": "key",
    "ALICIA_LIVEKIT_API_SECRET": "secret",
    "ALICIA_LLM_URL": "http://127.0.0.1:9/v1",
}


def _homes(folder: Path) -> Iterator[Path]:
    return (folder / f"home{number}" for number in count())


def _cut_short(home: Path, model: Mapping[str, str]) -> bool:
    """Kill the supervisor while the data folder is made; whether it was not too late."""
    making, made = home / "postgres" / "data.new" / "PG_VERSION", home / "postgres" / "data"
    with Up(home, model) as up:
        eventually(lambda: making.exists() or made.exists(), "the making has begun")
        up.process.send_signal(signal.SIGKILL)
    return not made.exists()


def _own_port() -> dict[str, str]:
    return {"ALICIA_PORT": str(ports.choose())}
