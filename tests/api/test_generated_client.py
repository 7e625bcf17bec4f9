"""A client that a public generator makes of the description is one that works."""

import asyncio
import json
import os
import sys
from pathlib import Path

from alicia.storage.pool import Pool
from support.callers import token
from support.talk import Talk
from support.turns import whole_turn

ROOT = Path(__file__).parents[2]
GENERATOR = ROOT / ".build" / "client-generator"
PROGRAM = ROOT / "tests" / "support" / "generated.py"
SETTINGS = """
post_hooks: []
content_type_overrides:
  audio/ogg: application/octet-stream
  audio/wav: application/octet-stream
  application/zip: application/octet-stream
"""


async def python(*arguments: str, path: tuple[Path, ...], **environ: str) -> str:
    """What a Python program prints; it must succeed."""
    environ |= {"PYTHONPATH": os.pathsep.join(map(str, path)), "PATH": os.environ["PATH"]}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, *arguments),
        env=environ,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said = (await process.communicate())[0].decode()
    assert process.returncode == 0, said
    return said


async def test_a_generated_client_lists_searches_and_traces(
    server: str, pool: Pool, user: str, tmp_path: Path
) -> None:
    assert GENERATOR.is_dir(), "make .build/client-generator/.installed has it set up"
    await whole_turn(await Talk.open(pool, user), "xylophone")
    settings = tmp_path / "settings.yaml"
    settings.write_text(SETTINGS)
    source = ["--path", str(ROOT / "docs" / "openapi.json"), "--config", str(settings), "--fail-on-warning"]
    target = ["--output-path", str(tmp_path / "made"), "--meta", "none"]
    await python("-m", "openapi_python_client", "generate", *source, *target, path=(GENERATOR,))

    said = await python(str(PROGRAM), server, path=(tmp_path, GENERATOR), TOKEN=token(user))

    told = json.loads(said)
    assert "xylophone" in told["snippet"]
    assert told["messages"] == ["My xylophone.", "Your xylophone."]
    assert told["tools"] == ["search"]
    assert told["sentences"] == ["Your xylophone."]
    assert told["memories"] == ["Has a xylophone"]
    assert told["missing"] == "There is no such message."
