"""The TypeScript types are written from the message types and nothing else."""

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "generate_protocol_types.py"


def test_the_types_are_what_the_script_writes() -> None:
    script = runpy.run_path(str(SCRIPT))
    written = script["FILE"].read_text(encoding="utf-8")
    assert written == script["render"](), "run scripts/generate_protocol_types.py"
