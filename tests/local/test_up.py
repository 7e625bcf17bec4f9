"""The whole embedded stack, started once; the tests share it and leave it well."""

import ipaddress
import json
import os
import re
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from alicia.config import Config
from alicia.local import ports
from alicia.local.home import Home
from alicia.local.stack import addresses
from support.scripted import ScriptedServer
from support.up import Up, eventually, processes_of, run_alicia

pytestmark = pytest.mark.xdist_group("up")

PARTS = ["PostgreSQL", "LiveKit", "Migrations", "Language model", "API", "Agent"]
PROGRAMS = ["PostgreSQL", "LiveKit", "Language model", "API", "Agent"]


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with Up(tmp_path_factory.mktemp("home")) as started:
        yield started.ready()


def test_each_part_has_a_line_with_its_time_before_the_ready_line(up: Up) -> None:
    ready = up.lines.index(f"Alicia is ready: http://127.0.0.1:{up.port}")
    for part in PARTS:
        assert any(re.match(rf"{part} +\d+\.\d s  ", line) for line in up.lines[:ready])


def test_the_language_model_says_that_it_warms_up_and_when_it_is_warm(up: Up) -> None:
    assert "smollm2-135m-instruct-q4_1 is warming up in the background" in up.output
    up.wait_for(r"^The language model is warm after \d+\.\d s\.$")


def test_the_server_answers_that_it_is_alive_and_ready(up: Up) -> None:
    assert up.get("/healthz")[0] == 200
    status, body = up.get("/readyz")
    assert (status, '"database":true' in body, '"livekit":true' in body) == (200, True, True)


def test_a_page_is_served(up: Up) -> None:
    status, body = up.get("/")
    assert status == 200
    assert "<title>Alicia</title>" in body


def test_nothing_listens_beyond_loopback(up: Up) -> None:
    listening = [address for pid in up.children().values() for address in _listening(pid)]
    assert len(listening) >= len(PROGRAMS)
    assert all(address.is_loopback for address in listening)


def test_secrets_are_readable_by_their_owner_alone(up: Up) -> None:
    assert stat.S_IMODE(up.home.stat().st_mode) == 0o700
    for secret in (up.home / "secrets.json", up.home / "livekit" / "livekit.yaml"):
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def test_no_secret_stands_on_a_command_line(up: Up) -> None:
    secrets = Home(up.home).secrets()
    commands = " ".join(processes_of(up.home).values())
    for secret in (secrets.postgres_password, secrets.livekit_api_secret, secrets.llm_api_key):
        assert secret not in commands


def test_a_second_start_in_the_same_home_names_the_process_that_holds_it(up: Up) -> None:
    second = run_alicia("up", home=up.home)
    assert second.returncode == 1
    assert f"already runs in {up.home}, as process {up.process.pid}" in second.stderr


def test_a_taken_port_is_named_with_the_variable_that_changes_it(up: Up, tmp_path: Path) -> None:
    second = run_alicia("up", home=tmp_path, settings={"ALICIA_PORT": str(up.port)})
    assert second.returncode == 1
    assert f"Port {up.port} is taken" in second.stderr
    assert "ALICIA_PORT" in second.stderr


def test_a_taken_port_of_an_embedded_server_is_named_too(up: Up, tmp_path: Path) -> None:
    settings = {"ALICIA_PORT": str(ports.choose()), "ALICIA_LIVEKIT_PORT": str(up.port)}
    second = run_alicia("up", home=tmp_path, settings=settings)
    assert second.returncode == 1
    assert f"Port {up.port} is taken" in second.stderr
    assert "ALICIA_LIVEKIT_PORT" in second.stderr


def test_the_doctor_finds_a_running_stack_well(up: Up) -> None:
    up.wait_for("^The language model is warm")
    found = run_alicia("doctor", home=up.home, settings={"ALICIA_PORT": str(up.port)})
    assert "FAIL" not in found.stdout
    assert re.search(r"ok +PostgreSQL +18\.\d+ with pgvector 0\.8\.\d+, embedded and running", found.stdout)
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_doctor_takes_only_an_api_of_alicias_at_its_port_for_well(
    up: Up, scripted: ScriptedServer, tmp_path: Path
) -> None:
    for port, ok in ((up.port, True), (scripted.port, False)):
        found = run_alicia("doctor", "--json", home=tmp_path, settings={"ALICIA_PORT": str(port)})
        findings = {finding["part"]: finding for finding in json.loads(found.stdout)}
        assert findings["Ports"]["ok"] is ok, findings["Ports"]["text"]


@pytest.mark.parametrize("part", PROGRAMS)
def test_a_child_that_is_killed_is_started_again_and_that_is_said(up: Up, part: str) -> None:
    before = up.children()
    seen = len(up.lines)
    os.kill(before[part], signal.SIGKILL)
    up.wait_for(rf"^{part} was killed by SIGKILL\. Starting it again in \d", after=seen)
    up.wait_for(rf"^{part} runs again\.$", after=seen)
    if part == "Language model":
        up.wait_for("^The language model is warm", after=seen)
    eventually(lambda: up.children().keys() == before.keys(), "every child runs")
    after = up.children()
    assert {name for name in before if after[name] != before[name]} == {part}
    eventually(lambda: up.get("/readyz")[0] == 200, "ready again")


def test_the_agent_registers_again_after_livekit_was_killed(up: Up) -> None:
    log = up.home / "logs" / "agent.log"
    before, seen = log.read_text().count("registered worker"), len(up.lines)
    os.kill(up.children()["LiveKit"], signal.SIGKILL)
    eventually(lambda: log.read_text().count("registered worker") > before, "the agent registers again")
    up.wait_for(r"^LiveKit runs again\.$", after=seen)


def test_an_end_by_signal_is_clean_and_quick(up: Up) -> None:
    where = addresses(Config(home=up.home), Home(up.home), Home(up.home).ports())
    with psycopg.connect(where.database_url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS one")
    assert up.end(signal.SIGTERM) == 0
    assert up.lines[-2:] == ["Stopping…", "Stopped."]
    assert processes_of(up.home) == {}
    log = (up.home / "logs" / "postgres.log").read_text()
    assert log.rstrip().endswith("database system is shut down")


def _listening(pid: int) -> Iterator[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """Yield the addresses that a process listens on, or receives datagrams at."""
    inodes: set[str] = set()
    for descriptor in Path(f"/proc/{pid}/fd").glob("*"):
        try:
            target = str(descriptor.readlink())
        except OSError:
            continue
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    for table, state in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == state and fields[9] in inodes:
                raw = bytes.fromhex(fields[1].split(":")[0])
                words = [raw[i : i + 4][::-1] for i in range(0, len(raw), 4)]
                yield ipaddress.ip_address(b"".join(words))
