"""What docs/security.md promises is held by tests that there are."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = [line for line in (ROOT / "docs" / "security.md").read_text().splitlines() if line.startswith("| ")]


def test_every_threat_has_a_test_that_there_is() -> None:
    here = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", file.read_text(), re.MULTILINE)
    }
    threats = TABLE[1:]
    assert len(threats) > 15
    for threat in threats:
        who, what, how, tests = (cell.strip() for cell in threat.strip("|").split("|"))
        assert who, threat
        assert what, threat
        assert how, threat
        named = re.findall(r"`(\w+)`", tests)
        assert named, threat
        assert set(named) <= here, set(named) - here
