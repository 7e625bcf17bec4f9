"""The examples of the README and of the SDK's page run as they stand there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.stack import Stack

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md").read_text() + (ROOT / "docs" / "sdk.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGES, re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_runs(stack: Stack, user: str, tmp_path: Path, number: int) -> None:
    stack.model.say("A drink. It is made of leaves.", always=True)
    place = '"http://127.0.0.1:8080"'
    assert place in EXAMPLES[number]
    options = f'"{stack.url}", token="{stack.token(user)}", store="{tmp_path}"'
    # The conversation's id stands second where there is one.
    program = re.sub(
        rf"{place}(, conversation\.id)?",
        lambda found: f"conversation_id=conversation.id, server={options}" if found[1] else options,
        EXAMPLES[number],
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    # LiveKit's library tells there what a busy machine does late.
    complaints = [line for line in done.stderr.splitlines() if not line.startswith("livekit")]
    assert (done.returncode, complaints) == (0, [])
    assert done.stdout
