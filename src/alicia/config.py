"""The environment, read once into a frozen struct. Every variable has a default; a bad one is named."""

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, Self, cast, get_args
from urllib.parse import urlsplit

import platformdirs

from alicia.errors import ConfigError

LanguageModelSize = Literal["large", "small"]
ToolCalls = Literal["auto", "native", "decide"]
LogLevel = Literal["debug", "info", "warning", "error"]


@dataclass(frozen=True)
class LiveKitServer:
    """A LiveKit server and the key that may administer it."""

    url: str
    api_key: str
    api_secret: str = field(repr=False)


@dataclass(frozen=True)
class ModelServer:
    """An OpenAI-compatible server; `url` is its base, usually ending in /v1."""

    url: str
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    voice: str | None = None


@dataclass(frozen=True)
class Config:
    """All settings. What is None is embedded, or off."""

    home: Path
    host: str = "127.0.0.1"
    port: int = 8080
    postgres_port: int | None = None
    livekit_port: int | None = None
    llm_port: int | None = None
    database_url: str | None = field(default=None, repr=False)
    database_pooler: bool = False
    livekit: LiveKitServer | None = None
    llm_size: LanguageModelSize = "large"
    llm: ModelServer | None = None
    llm_tools: ToolCalls = "auto"
    """Whether the language model calls tools by itself; `auto` asks it once."""
    embedding: ModelServer | None = None
    stt: ModelServer | None = None
    tts: ModelServer | None = None
    auth_secret: str | None = field(default=None, repr=False)
    auth_jwks_url: str | None = None
    auth_audience: str | None = None
    auth_issuer: str | None = None
    api_url: str | None = None
    token: str | None = field(default=None, repr=False)
    mcp_config: Path | None = None
    agent_name: str = "alicia"
    traces_url: str | None = None
    """Where spans are posted to, by OTLP over HTTP."""
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = None
    log_level: LogLevel = "info"

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Read the process's environment, or the one given; ConfigError names the variable at fault."""
        return cls._read(_Reader(os.environ if environ is None else environ))

    @classmethod
    def _read(cls, read: "_Reader") -> Self:
        home = read.text("ALICIA_HOME")
        mcp_config = read.text("ALICIA_MCP_CONFIG")
        config = cls(
            home=Path(home).expanduser().absolute() if home else platformdirs.user_data_path("alicia"),
            host=read.text("ALICIA_HOST") or "127.0.0.1",
            port=read.port("ALICIA_PORT") or 8080,
            postgres_port=read.port("ALICIA_POSTGRES_PORT"),
            livekit_port=read.port("ALICIA_LIVEKIT_PORT"),
            llm_port=read.port("ALICIA_LLM_PORT"),
            database_url=read.url("ALICIA_DATABASE_URL", "postgresql", "postgres"),
            database_pooler=read.word("ALICIA_DATABASE_POOLER", ("no", "yes")) == "yes",
            livekit=read.livekit(),
            llm_size=cast("LanguageModelSize", read.word("ALICIA_LLM", get_args(LanguageModelSize))),
            llm=read.model_server("ALICIA_LLM"),
            llm_tools=cast("ToolCalls", read.word("ALICIA_LLM_TOOLS", get_args(ToolCalls))),
            embedding=read.model_server("ALICIA_EMBEDDING"),
            stt=read.model_server("ALICIA_STT"),
            tts=read.model_server("ALICIA_TTS", has_voice=True),
            auth_secret=read.text("ALICIA_AUTH_SECRET"),
            auth_jwks_url=read.url("ALICIA_AUTH_JWKS_URL", "https", "http"),
            auth_audience=read.text("ALICIA_AUTH_AUDIENCE"),
            auth_issuer=read.text("ALICIA_AUTH_ISSUER"),
            api_url=read.url("ALICIA_URL", "http", "https"),
            token=read.text("ALICIA_TOKEN"),
            mcp_config=Path(mcp_config).expanduser().absolute() if mcp_config else None,
            agent_name=read.text("ALICIA_AGENT_NAME") or "alicia",
            traces_url=read.traces_url(),
            metrics_host=read.text("ALICIA_METRICS_HOST") or "127.0.0.1",
            metrics_port=read.port("ALICIA_METRICS_PORT"),
            log_level=cast("LogLevel", read.word("ALICIA_LOG_LEVEL", get_args(LogLevel), "info")),
        )
        config._check_exposure()
        return config

    @property
    def has_auth(self) -> bool:
        """Whether callers must prove who they are; without, there is one local user."""
        return self.auth_secret is not None or self.auth_jwks_url is not None

    @property
    def url(self) -> str:
        """Where the API and the web client are served."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def need_database_url(self) -> str:
        """Return the database's address, for the commands that run one part alone."""
        if self.database_url is None:
            raise ConfigError("Set ALICIA_DATABASE_URL, or start everything with `alicia up`.")
        return self.database_url

    def need_livekit(self) -> LiveKitServer:
        """Return the LiveKit server, for the commands that run one part alone."""
        if self.livekit is None:
            raise ConfigError("Set ALICIA_LIVEKIT_URL, or start everything with `alicia up`.")
        return self.livekit

    def _check_exposure(self) -> None:
        if self.auth_secret is not None and len(self.auth_secret.encode()) < 32:
            raise ConfigError("ALICIA_AUTH_SECRET is too short to be safe: give it at least 32 bytes.")
        if not self.has_auth and not _is_loopback(self.host):
            raise ConfigError(
                f"ALICIA_HOST is {self.host}, which others can reach, but nobody would have to log in: "
                "set ALICIA_AUTH_SECRET or ALICIA_AUTH_JWKS_URL as well, or leave ALICIA_HOST at 127.0.0.1."
            )


def known_variables() -> set[str]:
    """Return the name of every variable that is read."""
    reader = _Reader({})
    Config._read(reader)  # pyright: ignore[reportPrivateUsage]
    return reader.names


def unknown_variables(environ: Mapping[str, str]) -> dict[str, str | None]:
    """Return the variables that look like ours but are not, each with the one that was probably meant."""
    known = known_variables()
    unknown = [name for name in environ if name.startswith("ALICIA_") and name not in known]
    return {name: next(iter(get_close_matches(name, known, 1, 0.8)), None) for name in unknown}


class _Reader:
    """Reads variables one by one; an empty one counts as not set, as is usual in compose files."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.names: set[str] = set()

    def text(self, name: str) -> str | None:
        self.names.add(name)
        return self._environ.get(name, "").strip() or None

    def word(self, name: str, words: tuple[str, ...], default: str | None = None) -> str:
        value = self.text(name) or default or words[0]
        if value not in words:
            raise ConfigError(f"{name} is {value!r}, but must be one of {', '.join(words)}.")
        return value

    def port(self, name: str) -> int | None:
        value = self.text(name)
        if value is None:
            return None
        if not value.isascii() or not value.isdigit() or not 0 < int(value) < 65536:
            raise ConfigError(f"{name} is {value!r}, but must be a port number from 1 to 65535.")
        return int(value)

    def url(self, name: str, *schemes: str) -> str | None:
        value = self.text(name)
        if value is None:
            return None
        try:
            scheme = urlsplit(value).scheme
        except ValueError:
            scheme = ""
        if scheme not in schemes:
            # The value is not repeated: it may hold a password.
            raise ConfigError(f"{name} must be an address that starts with {schemes[0]}://.")
        return value

    def traces_url(self) -> str | None:
        """Return where OpenTelemetry's variables send spans; the one for traces alone goes before."""
        general = self.url("OTEL_EXPORTER_OTLP_ENDPOINT", "http", "https")
        traces = self.url("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http", "https")
        if (self.text("OTEL_SDK_DISABLED") or "").lower() == "true":
            return None
        return traces or (f"{general.rstrip('/')}/v1/traces" if general else None)

    def livekit(self) -> LiveKitServer | None:
        url = self.url("ALICIA_LIVEKIT_URL", "ws", "wss", "http", "https")
        key, secret = self.text("ALICIA_LIVEKIT_API_KEY"), self.text("ALICIA_LIVEKIT_API_SECRET")
        if url is None:
            return None
        if key is None or secret is None:
            missing = "ALICIA_LIVEKIT_API_KEY" if key is None else "ALICIA_LIVEKIT_API_SECRET"
            raise ConfigError(f"ALICIA_LIVEKIT_URL is set, but {missing} is not.")
        return LiveKitServer(url, key, secret)

    def model_server(self, prefix: str, *, has_voice: bool = False) -> ModelServer | None:
        url = self.url(f"{prefix}_URL", "http", "https")
        model, key = self.text(f"{prefix}_MODEL"), self.text(f"{prefix}_API_KEY")
        voice = self.text(f"{prefix}_VOICE") if has_voice else None
        return None if url is None else ModelServer(url.rstrip("/"), model, key, voice)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
