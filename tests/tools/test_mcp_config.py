"""The file of MCP servers: the format of other clients, and sentences about what is wrong with it."""

from pathlib import Path

import pytest

from alicia.errors import ConfigError
from alicia.tools.mcp.config import HttpServer, StdioServer, read_config

FILE = """
{
  "mcpServers": {
    "files": {"command": "npx", "args": ["-y", "server-files", "${DIR:-/tmp}"], "env": {"TOKEN": "${TOKEN}"}},
    "web": {"type": "http", "url": "https://example.org/m", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    "off": {"command": "never", "disabled": true},
    "plain": {"url": "http://127.0.0.1:9/mcp", "autoApprove": ["x"]}
  }
}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "mcp.json"
    path.write_text(text)
    return path


def test_servers_are_read_as_other_clients_write_them(tmp_path: Path) -> None:
    assert read_config(write(tmp_path, FILE), {"TOKEN": "t0p"}) == (
        StdioServer(name="files", command="npx", args=("-y", "server-files", "/tmp"), env={"TOKEN": "t0p"}),
        HttpServer(name="web", url="https://example.org/m", headers={"Authorization": "Bearer t0p"}),
        HttpServer(name="plain", url="http://127.0.0.1:9/mcp"),
    )


def test_a_private_address_is_allowed_by_saying_so(tmp_path: Path) -> None:
    file = '{"mcpServers": {"a": {"url": "http://10.0.0.5/mcp", "allowPrivate": true}}}'
    (server,) = read_config(write(tmp_path, file), {})
    assert server == HttpServer(name="a", url="http://10.0.0.5/mcp", allow_private=True)


def test_a_file_without_servers_is_no_mistake(tmp_path: Path) -> None:
    assert read_config(write(tmp_path, "{}"), {}) == ()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("not json", "is not a file of MCP servers"),
        ('{"mcpServers": []}', "is not a file of MCP servers"),
        ('{"mcpServers": {"a": {}}}', "'a' must have either a command or a url"),
        ('{"mcpServers": {"a": {"command": "x", "url": "http://b"}}}', "must have either a command or a url"),
        ('{"mcpServers": {"a": {"url": "ftp://b"}}}', "must start with http://"),
        ('{"mcpServers": {"a": {"type": "sse", "url": "http://b"}}}', "'a' is not described correctly"),
        ('{"mcpServers": {"a": {"command": ["x"]}}}', "'a' is not described correctly"),
        ('{"mcpServers": {"a": {"command": "${NOPE}"}}}', "needs the variable 'NOPE'"),
        ('{"mcpServers": {"a": {"command": "x", "timeoutMs": 0}}}', "must be more than 0"),
    ],
)
def test_a_mistake_in_the_file_is_told_to_the_operator(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match="ALICIA_MCP_CONFIG") as error:
        read_config(write(tmp_path, text), {})
    assert complaint in str(error.value)


def test_a_missing_file_is_told_to_the_operator(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_config(tmp_path / "nowhere.json", {})


def test_a_server_may_have_a_time_limit_of_its_own(tmp_path: Path) -> None:
    text = '{"mcpServers": {"a": {"command": "x", "timeoutMs": 2500}}}'
    assert read_config(write(tmp_path, text), {}) == (StdioServer(name="a", command="x", timeout=2.5),)
