"""Write tests/vectors/envelopes.json; run it after a change of the wire, and review what it changed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import vectors

if __name__ == "__main__":
    vectors.FILE.write_text(vectors.render(), encoding="utf-8")
