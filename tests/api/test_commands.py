"""The commands with which a person manages things, as processes that speak to a real server."""

import asyncio
import json
import os
from pathlib import Path

import jwt
import pytest
from typer.testing import CliRunner, Result

from alicia.cli.main import app
from alicia.errors import AliciaError
from alicia.storage.pool import Pool
from alicia.storage.tools import register_tool
from support.callers import SECRET, token
from support.talk import Talk
from support.turns import whole_turn
from support.up import run_alicia


class Terminal:
    """Runs commands against the server, as one user: in this process, since starting one takes a second."""

    def __init__(self, home: Path, settings: dict[str, str]) -> None:
        self._environ: dict[str, str | None] = {
            name: None for name in os.environ if name.startswith("ALICIA_")
        }
        self._environ |= {"ALICIA_HOME": str(home), **settings}

    async def __call__(self, *arguments: str) -> str:
        """What a command prints; it must succeed."""
        done = await self._run(arguments)
        assert done.exit_code == 0, (done.output, done.exception)
        return done.stdout

    async def fails(self, *arguments: str) -> str:
        """What a command says when it cannot do what it should."""
        done = await self._run(arguments)
        assert isinstance(done.exception, AliciaError), (done.output, done.exception)
        return str(done.exception)

    async def _run(self, arguments: tuple[str, ...]) -> Result:
        # In a thread, since the server that it speaks to lives in this one.
        return await asyncio.to_thread(CliRunner().invoke, app, arguments, env=self._environ)


@pytest.fixture
def alicia(server: str, user: str, tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, {"ALICIA_URL": server, "ALICIA_TOKEN": token(user, alicia_admin=True)})


async def test_memories_are_managed_from_the_terminal(alicia: Terminal, tmp_path: Path) -> None:
    made = (
        await alicia("memory", "add", "Plays the cello.", "--tag", "music", "--importance", "0.9")
    ).strip()
    notes = tmp_path / "notes.txt"
    notes.write_text("Lives in Bergen.\n")
    imported = await alicia("memory", "import", str(notes))
    assert "1 memories stored, 0 kept, 0 removed." in imported
    assert "notes.txt" in imported
    assert "100%" in imported
    notes.write_text("Lives in Oslo.\n")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "weather.md").write_text("# Weather\n\nLikes rain.\n")
    assert "1 memories stored, 0 kept, 1 removed." in await alicia("memory", "import", str(notes))
    assert "1 memories stored" in await alicia("memory", "import", str(tmp_path / "more"), "--tag", "sky")
    assert "0 memories stored, 1 kept" in await alicia("memory", "import", str(tmp_path / "more"))
    lines = tmp_path / "notes.jsonl"
    lines.write_text('{"content": "Has a cat.", "memoryType": "fact"}\n')
    await alicia("memory", "import", str(lines), "--tag", "pets")
    for command in (("pin", made), ("rate", made, "5")):
        await alicia("memory", *command)
    found = json.loads(await alicia("memory", "list", "--json"))
    assert {each["content"] for each in found} == {
        "Plays the cello.",
        "Lives in Oslo.",
        "Weather\nLikes rain.",
        "Has a cat.",
    }
    cello = next(each for each in found if each["id"] == made)
    assert (cello["pinned"], cello["userRating"], cello["importance"]) == (True, 5, 0.9)
    assert "Plays the cello." in await alicia("memory", "list", "--tag", "music")
    best, *_ = json.loads(await alicia("memory", "search", "cello", "--json"))
    assert best["id"] == made
    assert "score" in await alicia("memory", "search", "cello")
    await alicia("memory", "edit", made, "Plays the viola.")
    assert "Plays the viola." in await alicia("memory", "list", "--tag", "music")
    assert "Never used." in await alicia("memory", "uses", made)
    await alicia("memory", "delete", made)
    assert made not in await alicia("memory", "list")
    await alicia("memory", "restore", made)
    await alicia("memory", "archive", made)
    assert made in await alicia("memory", "list", "--archived")
    await alicia("memory", "delete", made, "--erase")
    assert "There is no such memory." in await alicia.fails("memory", "pin", made)
    lines.write_text("no json\n")
    assert "notes.jsonl, line 1" in await alicia.fails("memory", "import", str(lines))


async def test_conversations_are_found_traced_and_erased_from_the_terminal(
    alicia: Terminal, talk: Talk
) -> None:
    turn = await whole_turn(talk, "xylophone\x1b[31m")
    listed = await alicia("conversations", "xylophone")
    assert talk.id in listed
    assert "\x1b" not in listed
    assert turn.asked in await alicia("memory", "uses", turn.memory)
    assert json.loads(await alicia("memory", "uses", turn.memory, "--json"))[0]["conversationId"] == talk.id
    shown = await alicia("trace", turn.answer)
    parts = (
        "heard",
        "asked",
        "learned     Has a",
        "thought     They said",
        "tool        search",
        "said",
        "noted",
    )
    for part in parts:
        assert part in shown
    assert "\x1b" not in shown
    assert f"How {turn.answer} came about" in await alicia("trace", turn.answer, "--html")
    assert turn.answer in await alicia("trace", talk.id)
    (first, _) = json.loads(await alicia("trace", talk.id, "--json"))["items"]
    assert first["message"]["id"] == turn.asked
    whole = json.loads(await alicia("trace", turn.answer, "--json"))
    assert whole["message"]["id"] == turn.answer
    assert "a message (am_…) or a conversation (ac_…)" in await alicia.fails("trace", "xylophone")
    assert "this is no whole id such as am_…" in await alicia.fails("trace", turn.answer[:-1])
    await alicia("erase", turn.asked, "--yes")
    assert "There is no such message." in await alicia.fails("trace", turn.asked)
    await alicia("erase", talk.id, "--yes")
    assert "No conversations." in await alicia("conversations")
    assert "Name what to erase" in await alicia.fails("erase", "--yes")
    assert "a memory (amem_…)" in await alicia.fails("erase", "x", "--yes")


async def test_tools_are_listed_and_switched_from_the_terminal(
    alicia: Terminal, pool: Pool, user: str
) -> None:
    name = f"tool-{user}"
    async with pool.connection() as conn:
        await register_tool(conn, name, "Does things.", {"type": "object"})
    assert name in await alicia("tools")
    (off,) = json.loads(await alicia("tools", name, "--off", "--json"))
    assert off["enabled"] is False
    assert "There is no such tool." in await alicia.fails("tools", "none", "--on")


async def test_everything_is_taken_away_and_brought_back_from_the_terminal(
    alicia: Terminal, talk: Talk, tmp_path: Path
) -> None:
    await whole_turn(talk, "xylophone")
    file = tmp_path / "mine.zip"
    assert "bytes" in await alicia("export", str(file))
    assert "is there already" in await alicia.fails("export", str(file))
    added = json.loads(await alicia("import", str(file), "--json"))
    assert added["alicia_conversations"] == 0
    await alicia("erase", "--everything", "--yes")
    assert "No conversations." in await alicia("conversations")


async def test_a_made_token_lets_its_user_in(server: str, tmp_path: Path) -> None:
    operator = Terminal(tmp_path, {"ALICIA_AUTH_SECRET": SECRET, "ALICIA_AUTH_ISSUER": "us"})
    made = (await operator("token", "--user", "maria", "--days", "2")).strip()
    claims = jwt.decode(made, SECRET, algorithms=["HS256"], issuer="us")
    assert claims["sub"] == "maria"
    assert claims["exp"] - claims["iat"] == 2 * 86400
    assert "No conversations." in await operator("conversations", "--url", server, "--token", made)
    refused = await operator.fails("conversations", "--url", server)
    assert "alicia token --user" in refused
    assert "colon" in await operator.fails("token", "--user", "a:b")
    nobody = Terminal(tmp_path, {})
    assert "ALICIA_AUTH_SECRET" in await nobody.fails("token", "--user", "maria")
    assert "Is `alicia up` running?" in await nobody.fails("tools", "--url", "http://127.0.0.1:9")


def test_a_failure_is_one_line_and_an_exit_code(tmp_path: Path) -> None:
    done = run_alicia("tools", "--url", "http://127.0.0.1:9", home=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("alicia: http://127.0.0.1:9 does not answer")
    assert done.stderr.count("\n") == 1


def test_a_shell_completes_commands_and_options() -> None:
    script = CliRunner().invoke(app, ["--show-completion", "bash"], prog_name="alicia").stdout
    assert "_ALICIA_COMPLETE=complete_bash" in script
    for typed, completed in (("alicia mem", "memory"), ("alicia conversations --st", "--status")):
        asked = {
            "_ALICIA_COMPLETE": "complete_bash",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(typed.count(" ")),
        }
        said = CliRunner().invoke(app, [], prog_name="alicia", env=asked)
        assert said.stdout.split() == [completed]
