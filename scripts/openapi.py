"""Write docs/openapi.json, the description of the HTTP interface; a test keeps it current."""

import json
from pathlib import Path

from alicia.api import description

PATH = Path(__file__).parents[1] / "docs" / "openapi.json"


def text() -> str:
    return json.dumps(description.make().openapi(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.write_text(text())
