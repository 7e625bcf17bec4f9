"""The files in `deploy/` fit each other, the settings that there are, and the guide."""

import configparser
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import typer.main
import yaml

from alicia.cli.main import app
from alicia.config import Config, known_variables
from alicia.local.livekit import VERSION
from alicia.local.weights import SETS, TOKENIZER
from support.cluster import THIS_MACHINE, Node

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
GUIDE = (ROOT / "docs" / "deploy.md").read_text()
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))

DROP_INS = {name: DEPLOY / "systemd" / f"{name}.service.d" / "alicia.conf" for name in ("pgbouncer", "caddy")}
KEYS = {
    "DEFAULT": "",
    "Unit": "Description After Wants StartLimitIntervalSec",
    "Service": """
        User EnvironmentFile Environment ExecStart StateDirectory Restart RestartSec TimeoutStopSec
        LimitNOFILE MemoryMax NoNewPrivileges ProtectSystem ProtectHome PrivateTmp PrivateDevices
        ProtectKernelTunables ProtectControlGroups RestrictAddressFamilies
    """,
    "Install": "WantedBy",
}


def commands() -> set[str]:
    group = typer.main.get_group(app)
    return set(group.commands)


def compose() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def livekit() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "livekit.yaml").read_text())


def scraped() -> dict[str, list[str]]:
    """Whom Prometheus asks, by job."""
    jobs = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())["scrape_configs"]
    return {job["job_name"]: job["static_configs"][0]["targets"] for job in jobs}


def published(service: dict[str, Any], port: int) -> list[str]:
    """Where on the machine's loopback a port of the service's containers is, of one after the other."""
    for published in service["ports"]:
        address, _, inside = published.rpartition(":")
        host, _, outside = address.rpartition(":")
        if inside == str(port) and host == "127.0.0.1":
            first, _, last = outside.partition("-")
            return [f"{host}:{number}" for number in range(int(first), int(last or first) + 1)]
    return []


def parsed(unit: Path) -> configparser.ConfigParser:
    file = configparser.ConfigParser(interpolation=None, strict=False)
    file.optionxform = str  # pyright: ignore[reportAttributeAccessIssue]
    file.read(unit)
    return file


def variables(text: str) -> set[str]:
    """The settings of ours that a text names."""
    return set(re.findall(r"\b(?:ALICIA|OTEL)_[A-Z_]+\b", text))


def environment_file() -> dict[str, str]:
    lines = (DEPLOY / "alicia.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def test_only_settings_that_there_are_are_named() -> None:
    for file in DEPLOY.rglob("*"):
        if file.is_file():
            assert variables(file.read_text()) <= known_variables(), file.name
    assert variables(GUIDE) <= known_variables()


def test_the_environment_file_is_one_that_alicia_reads() -> None:
    config = Config.from_environ(environment_file())
    assert config.database_pooler
    assert config.has_auth


def test_every_service_of_the_compose_file_can_start() -> None:
    file = compose()
    for name, service in file["services"].items():
        image = service["image"]
        assert image == "alicia" or re.search(r":v?\d", image), f"{name} names no version"
        assert set(service.get("depends_on", {})) <= set(file["services"]), name
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source in file["volumes"] or (DEPLOY / source).exists(), volume
        if image == "alicia":
            assert service["command"][0] in commands()
            assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).exists()
    wanted = set(re.findall(r"\$\{([A-Z_]+):\?\}", (DEPLOY / "compose.yaml").read_text()))
    assert all(f"`{name}`" in GUIDE for name in wanted)


def test_the_processes_of_the_compose_file_get_settings_that_work() -> None:
    for name in ("api", "agent", "migrate"):
        given = compose()["services"][name]["environment"]
        filled = {key: re.sub(r"\$\{[^}]*\}", "x" * 32, value) for key, value in given.items()}
        filled["ALICIA_LIVEKIT_URL"] = "wss://livekit.example.org"
        filled["ALICIA_LLM_URL"] = "https://llm.example.org/v1"
        filled["OTEL_EXPORTER_OTLP_ENDPOINT"] = ""
        config = Config.from_environ(filled)
        assert config.database_pooler == (name != "migrate")


def test_livekit_is_the_version_that_is_tested() -> None:
    assert compose()["services"]["livekit"]["image"].endswith(f":v{VERSION}")


def test_the_cluster_that_is_tested_has_the_deployed_settings_of_livekit(tmp_path: Path) -> None:
    deployed, tested = livekit(), Node(tmp_path, 6379, "key", "secret").settings()
    assert tested.keys() == deployed.keys() | {"keys"}
    assert all(tested[name] == deployed[name] for name in ("bind_addresses", "room", "logging"))
    changed = {name for name, value in deployed["rtc"].items() if tested["rtc"][name] != value}
    assert changed == {"udp_port", "tcp_port"}
    assert tested["rtc"].keys() == deployed["rtc"].keys() | set(THIS_MACHINE)


def test_the_image_is_made_of_files_that_there_are() -> None:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    for line in lines:
        if line.startswith("FROM "):
            assert re.search(r":\d", line), line
        if line.startswith("COPY ") and "--from" not in line:
            *sources, _ = line.removeprefix("COPY ").split()
            assert all((ROOT / source).exists() for source in sources), line


def test_pgbouncer_pools_by_transactions_wherever_it_runs() -> None:
    file = configparser.ConfigParser()
    file.read(DEPLOY / "pgbouncer.ini")
    ours, composed = file["pgbouncer"], compose()["services"]["pgbouncer"]["environment"]
    for name in ("pool_mode", "max_client_conn", "default_pool_size", "auth_type", "listen_port"):
        assert ours[name] == composed[name.upper()], name
    assert ours["pool_mode"] == "transaction"
    wanted = sum(int(ours[name]) for name in ("max_client_conn", "default_pool_size", "reserve_pool_size"))
    assert int(parsed(DROP_INS["pgbouncer"])["Service"]["LimitNOFILE"]) > wanted + 100, (
        "it opens a few files of its own"
    )
    assert compose()["services"]["pgbouncer"]["ulimits"]["nofile"] > wanted + 100
    assert f":{ours['listen_port']}/" in environment_file()["ALICIA_DATABASE_URL"]


def test_the_units_start_commands_that_there_are() -> None:
    assert len(UNITS) == 3
    for unit in UNITS:
        file = parsed(unit)
        program, *arguments = file["Service"]["ExecStart"].split()
        if Path(program).name == "alicia":
            assert set(arguments) <= commands()
        assert file["Service"]["User"] in GUIDE
        assert file["Service"]["EnvironmentFile"] in GUIDE
        assert file["Service"]["NoNewPrivileges"] == "yes"
        assert file["Service"]["ProtectSystem"] == "strict"
        assert file["Install"]["WantedBy"] == "multi-user.target"
        assert unit.name in GUIDE or unit.stem.rstrip("@") in GUIDE


def test_what_systemd_starts_is_started_again_however_often_it_ends() -> None:
    for unit in (*UNITS, *DROP_INS.values()):
        file = parsed(unit)
        assert file["Service"]["Restart"] == "always", unit.name
        # Otherwise five quick ends, such as without Redis, would be the last.
        assert file["Unit"]["StartLimitIntervalSec"] == "0", unit.name
    for name, drop_in in DROP_INS.items():
        assert f"-t /etc/systemd/system/{name}.service.d {drop_in.relative_to(ROOT)}" in GUIDE


def test_systemd_knows_every_key_of_the_units(tmp_path: Path) -> None:
    for unit in (*UNITS, *DROP_INS.values()):
        for name, section in parsed(unit).items():
            assert set(section) <= set(KEYS[name].split()), unit.name
    if analyse := shutil.which("systemd-analyze"):
        for unit in UNITS:
            text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", unit.read_text(), flags=re.MULTILINE)
            copy = tmp_path / unit.name.replace("@", "@1")
            copy.write_text(text)
            done = subprocess.run(
                [analyse, "verify", "--man=no", str(copy)], capture_output=True, text=True, check=False
            )
            about = [line for line in done.stderr.splitlines() if unit.stem.rstrip("@") in line]
            assert about == [], unit.name


def test_prometheus_asks_where_the_units_answer() -> None:
    asked = scraped()
    for name in ("alicia-api", "alicia-agent"):
        instances = re.findall(rf"{name}@(\d+)", (DEPLOY / "systemd" / f"{name}@.service").read_text())
        assert asked[name] == [f"127.0.0.1:{port}" for port in instances]
    assert asked["livekit"] == [f"127.0.0.1:{livekit()['prometheus']['port']}"]
    proxied = re.findall(r"127\.0\.0\.1:(\d+)", (DEPLOY / "Caddyfile").read_text())
    assert [f"127.0.0.1:{port}" for port in proxied[:2]] == asked["alicia-api"]


def test_prometheus_asks_where_the_containers_answer() -> None:
    services = compose()["services"]
    agent = services["agent"]["environment"]
    answering = {"alicia-api": 8080, "alicia-agent": int(agent["ALICIA_METRICS_PORT"])}
    answering["livekit"] = livekit()["prometheus"]["port"]
    for job, targets in scraped().items():
        service = services[job.removeprefix("alicia-")]
        replicas = service.get("deploy", {}).get("replicas", 1)
        assert published(service, answering[job])[:replicas] == targets, job
    # On its own loopback a container can be asked by nobody.
    assert services["api"]["environment"]["ALICIA_HOST"] == agent["ALICIA_METRICS_HOST"] == "0.0.0.0"
    assert services["livekit"]["command"][2:4] == ["--bind", "0.0.0.0"]


def test_only_what_browsers_need_listens_beyond_the_machine() -> None:
    assert livekit()["bind_addresses"] == ["127.0.0.1"]
    assert re.search(r"^unix_socket_dir =$", (DEPLOY / "pgbouncer.ini").read_text(), re.MULTILINE), (
        "it'd be in /tmp"
    )
    rtc = livekit()["rtc"]
    assert not rtc["use_external_ip"], "servers of others would be asked"
    assert rtc["stun_servers"] == ["127.0.0.1:9"], "browsers would ask servers of others"
    media = {f"{rtc['tcp_port']}:", f"{rtc['udp_port']}:"}
    for name, service in compose()["services"].items():
        for port in service.get("ports", []):
            assert port.startswith(("127.0.0.1:", *media)), name


def test_the_guide_puts_no_secret_on_a_command_line() -> None:
    shell = "\n".join(re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL))
    assert not re.search(r"postgres(ql)?://|PASSWORD|SECRET", shell)


def test_the_guide_installs_what_it_uses() -> None:
    installed = set(" ".join(re.findall(r"apt-get install (.*)", GUIDE)).split())
    assert {"git", "make", "python3-venv", "pgbouncer", "redis-server", "caddy"} <= installed


def test_the_guide_says_where_each_file_goes() -> None:
    shell = "\n".join(re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL))
    for name in ("alicia.env", "pgbouncer.ini", "livekit.yaml", "redis.conf", "Caddyfile"):
        assert re.search(rf"install .*deploy/{re.escape(name)} /etc/", shell), name


def test_processes_in_containers_have_the_model_for_memories() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    assert "alicia.local.weights memory" in text
    assert TOKENIZER.listed_in in text
    assert SETS["memory"] == (TOKENIZER,)
