"""The file of MCP servers, in the format of other MCP clients: `{"mcpServers": {NAME: …}}`."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from alicia.errors import ConfigError

VARIABLE = "ALICIA_MCP_CONFIG"
_PLACEHOLDER = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


class _Entry(msgspec.Struct, kw_only=True):
    """What the file may say of a server; what other clients add beyond that is ignored."""

    type: Literal["stdio", "http", "streamable-http", "streamableHttp", "streamable_http"] | None = None
    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    disabled: bool = False
    timeout_ms: int | None = msgspec.field(name="timeoutMs", default=None)
    """Our own: how long a call may take."""
    allow_private: bool = msgspec.field(name="allowPrivate", default=False)
    """Our own: whether the address may be one of this machine's or of its network's."""


class _File(msgspec.Struct, kw_only=True):
    servers: dict[str, dict[str, Any]] = msgspec.field(
        name="mcpServers", default_factory=dict[str, dict[str, Any]]
    )


class StdioServer(msgspec.Struct, frozen=True, kw_only=True):
    """A server that is a child process; of our environment it gets no more than PATH, HOME and the like."""

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str | None = None
    timeout: float | None = None
    """Seconds for a call, if not the usual."""


class HttpServer(msgspec.Struct, frozen=True, kw_only=True):
    """A server behind a streamable HTTP address."""

    name: str
    url: str
    headers: dict[str, str] = {}
    timeout: float | None = None
    allow_private: bool = False
    """Whether it may be on this machine or in its network."""


ServerConfig = StdioServer | HttpServer


def read_config(path: Path, environ: Mapping[str, str]) -> tuple[ServerConfig, ...]:
    """The servers that the file names; ConfigError says what is wrong with it.

    `${NAME}` and `${NAME:-default}` in texts stand for variables of `environ`.
    """
    try:
        file = msgspec.json.decode(path.read_bytes(), type=_File)
    except OSError as error:
        raise ConfigError(f"{VARIABLE} names {path}, which cannot be read: {error.strerror}.") from error
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise ConfigError(f"{VARIABLE}: {path} is not a file of MCP servers: {error}.") from error
    servers = (_server(name, entry, environ) for name, entry in file.servers.items())
    return tuple(server for server in servers if server is not None)


def _server(name: str, entry: dict[str, Any], environ: Mapping[str, str]) -> ServerConfig | None:
    try:
        read = msgspec.convert(_expand(entry, environ), _Entry)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{VARIABLE}: the server {name!r} is not described correctly: {error}.") from error
    except KeyError as error:
        raise ConfigError(
            f"{VARIABLE}: the server {name!r} needs the variable {error}, which is not set."
        ) from error
    if read.disabled:
        return None
    if read.timeout_ms is not None and read.timeout_ms <= 0:
        raise ConfigError(f"{VARIABLE}: `timeoutMs` of the server {name!r} must be more than 0.")
    seconds = None if read.timeout_ms is None else read.timeout_ms / 1000
    if read.command and not read.url and read.type in (None, "stdio"):
        return StdioServer(
            name=name,
            command=read.command,
            args=tuple(read.args),
            env=read.env,
            cwd=read.cwd,
            timeout=seconds,
        )
    if read.url and not read.command and read.type != "stdio":
        if not read.url.startswith(("http://", "https://")):
            raise ConfigError(
                f"{VARIABLE}: the address of the server {name!r} must start with http:// or https://."
            )
        return HttpServer(
            name=name,
            url=read.url,
            headers=read.headers,
            timeout=seconds,
            allow_private=read.allow_private,
        )
    raise ConfigError(f"{VARIABLE}: the server {name!r} must have either a command or a url.")


def _expand(value: Any, environ: Mapping[str, str]) -> Any:
    match value:
        case str():
            return _PLACEHOLDER.sub(lambda found: _variable(found, environ), value)
        case dict():
            return {key: _expand(item, environ) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
        case list():
            return [_expand(item, environ) for item in value]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value


def _variable(found: re.Match[str], environ: Mapping[str, str]) -> str:
    name, default = found.groups()
    return environ[name] if default is None else environ.get(name, default)
