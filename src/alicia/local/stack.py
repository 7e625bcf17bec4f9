"""What the embedded stack is made of: which parts, on which ports, with which environment."""

import os
import signal
import sys
from dataclasses import dataclass

from alicia.config import Config, LiveKitServer, ModelServer
from alicia.local import ports
from alicia.local.checks import check_database, check_livekit, check_model, place
from alicia.local.home import Home, HomeError, settle_port
from alicia.local.livekit import LiveKit
from alicia.local.part import LiveKitPart, Part, PostgresPart, ProgramPart, StepPart, WarmingPart
from alicia.local.postgres import Postgres
from alicia.local.supervisor import Report
from alicia.local.weights import QWEN, SMOLLM2, Weights, WeightsError
from alicia.tools.mcp.config import read_config

# Variables of LiveKit's own tools, which would override what we tell the agent.
FOREIGN = ("LIVEKIT_URL", "LIVEKIT_API_KEY", "LIVEKIT_API_SECRET")


@dataclass(frozen=True)
class Addresses:
    """Where the servers of a stack are, embedded or not."""

    database_url: str
    livekit: LiveKitServer
    llm: ModelServer

    def environment(self, config: Config) -> dict[str, str]:
        """Return the environment that tells our programs these addresses."""
        environ = {name: value for name, value in os.environ.items() if name not in FOREIGN}
        # What the embedded models are like need not be found out.
        tools = {"ALICIA_LLM_TOOLS": "decide"} if config.llm is None else {}
        return environ | {
            **tools,
            "ALICIA_HOME": str(config.home),
            "ALICIA_DATABASE_URL": self.database_url,
            "ALICIA_LIVEKIT_URL": self.livekit.url,
            "ALICIA_LIVEKIT_API_KEY": self.livekit.api_key,
            "ALICIA_LIVEKIT_API_SECRET": self.livekit.api_secret,
            "ALICIA_LLM_URL": self.llm.url,
            "ALICIA_LLM_MODEL": self.llm.model or "",
            "ALICIA_LLM_API_KEY": self.llm.api_key or "",
        }


def addresses(config: Config, home: Home, chosen: dict[str, int]) -> Addresses:
    """Return the addresses of a stack whose embedded servers have these ports."""
    secrets = home.secrets()
    livekit_url = f"ws://{ports.LOOPBACK}:{chosen.get('livekit')}"
    llm_url = f"http://{ports.LOOPBACK}:{chosen.get('llm')}/v1"
    model = wanted_weights(config).name.removesuffix(".gguf")
    return Addresses(
        database_url=config.database_url or embedded_postgres(home, chosen.get("postgres")).url(),
        livekit=config.livekit
        or LiveKitServer(livekit_url, secrets.livekit_api_key, secrets.livekit_api_secret),
        llm=config.llm or ModelServer(llm_url, model, secrets.llm_api_key),
    )


def embedded_postgres(home: Home, port: int | None) -> Postgres:
    """Return the PostgreSQL of this home."""
    log = home.logs / "postgres.log"
    return Postgres(home.postgres, password=home.secrets().postgres_password, port=port, log=log)


def wanted_weights(config: Config) -> Weights:
    """Return the weights of the local language model: the small ones where the large are not there."""
    return QWEN if config.llm_size == "large" and QWEN.path.exists() else SMOLLM2


def settle_ports(config: Config, home: Home) -> dict[str, int]:
    """Settle where everything listens, and remember it. A port that was asked for and is taken is named."""
    if obstacle := ports.obstacle(config.port, host=config.host):
        raise HomeError(f"Port {config.port} {obstacle}: set ALICIA_PORT to a free one.")
    remembered = home.ports()
    chosen = dict(remembered)
    if config.database_url is None:
        chosen["postgres"] = settle_port("postgres", "ALICIA_POSTGRES_PORT", config.postgres_port, remembered)
    if config.livekit is None:
        chosen["livekit"] = settle_port("livekit", "ALICIA_LIVEKIT_PORT", config.livekit_port, remembered)
    if config.llm is None:
        chosen["llm"] = settle_port("llm", "ALICIA_LLM_PORT", config.llm_port, remembered)
    home.remember_ports(chosen)
    return chosen


def build(config: Config, home: Home, report: Report) -> list[Part]:
    """Return the parts in the order in which they are shown; ConfigError if a setting is not in order."""
    if config.mcp_config:
        # The agent reads it again; here the mistake is shown before anything is started.
        read_config(config.mcp_config, os.environ)
    chosen = settle_ports(config, home)
    where = addresses(config, home, chosen)
    environ = where.environment(config)
    alicia = [sys.executable, "-m", "alicia.cli.main"]
    return [
        _database(config, home, chosen, where),
        _livekit(config, home, chosen),
        StepPart(
            "Migrations",
            lambda: _migrate(where.database_url, embedded=config.database_url is None),
            needs=("PostgreSQL",),
        ),
        _language_model(config, home, environ, report),
        ProgramPart(
            "API",
            [*alicia, "api", "--notify"],
            needs=("Migrations", "LiveKit"),
            log=home.logs / "api.log",
            env=environ,
        ),
        ProgramPart(
            "Agent",
            [*alicia, "agent", "--notify"],
            needs=("Migrations", "LiveKit"),
            log=home.logs / "agent.log",
            env=environ,
            # The agent drains on SIGTERM. Here an answer that still runs is finished at the next start.
            stop_signal=signal.SIGQUIT,
        ),
    ]


def _database(config: Config, home: Home, chosen: dict[str, int], where: Addresses) -> Part:
    if config.database_url is None:
        return PostgresPart(embedded_postgres(home, chosen["postgres"]))

    async def look() -> str:
        found = await check_database(where.database_url)
        return f"{found}, yours at {place(where.database_url)}"

    return StepPart("PostgreSQL", look)


def _livekit(config: Config, home: Home, chosen: dict[str, int]) -> Part:
    server = config.livekit
    if server is None:
        secrets = home.secrets()
        return LiveKitPart(
            LiveKit(
                home.livekit,
                api_key=secrets.livekit_api_key,
                api_secret=secrets.livekit_api_secret,
                port=chosen["livekit"],
                log=home.logs / "livekit.log",
            )
        )

    async def look() -> str:
        await check_livekit(server)
        return f"yours at {place(server.url)}"

    return StepPart("LiveKit", look)


def _language_model(config: Config, home: Home, environ: dict[str, str], report: Report) -> Part:
    server = config.llm
    if server is not None:

        async def look() -> str:
            model = await check_model("ALICIA_LLM", server)
            return f"{model}, yours at {place(server.url)}"

        return StepPart("Language model", look)

    weights = wanted_weights(config)
    if not weights.path.exists():
        raise WeightsError(
            "There is no local language model yet: fetch one with `make weights-large`, "
            "or set ALICIA_LLM_URL to an OpenAI-compatible server."
        )
    return WarmingPart(
        "Language model",
        [sys.executable, "-m", "alicia.local.llm", str(weights.path)],
        # It needs nothing, but loading it takes both cores of a small machine from those who are waited for.
        needs=("API",),
        log=home.logs / "llm.log",
        env=environ,
        note=warming_note(config, weights),
        warmed=lambda seconds: report.say(f"The language model is warm after {seconds} s."),
    )


def warming_note(config: Config, weights: Weights) -> str:
    """Say which language model is loaded, and how to get the default one where that is missing."""
    note = f"{weights.name.removesuffix('.gguf')} is warming up in the background"
    if config.llm_size == "large" and weights is SMOLLM2:
        note += "; it stands in for the default model, which `make weights-large` fetches"
    return note


async def _migrate(url: str, *, embedded: bool) -> str:
    """Bring the database to the newest schema; the embedded PostgreSQL has no database at first."""
    from alicia.local.database import ensure_database
    from alicia.storage.migrate import migrate

    if embedded:
        await ensure_database(url)
    applied = await migrate(url)
    return f"{len(applied)} applied" if applied else "nothing to do"
