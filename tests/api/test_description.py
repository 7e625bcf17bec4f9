"""The OpenAPI description, as a file and as a page."""

import json
import re
from pathlib import Path
from typing import Any

import httpx2
import jsonschema

from alicia.api import description

FILE = Path(__file__).parents[2] / "docs" / "openapi.json"


def calls(schema: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, call) for path, methods in schema["paths"].items() for method, call in methods.items()
    ]


def test_the_committed_description_is_current() -> None:
    made = description.make().openapi()
    assert json.loads(FILE.read_text()) == json.loads(json.dumps(made)), "run scripts/openapi.py"


def test_every_call_is_described_and_its_errors_are_problems() -> None:
    schema = description.make().openapi()
    names = [call["operationId"] for _, _, call in calls(schema)]
    assert len(names) == len(set(names))
    for method, path, call in calls(schema):
        assert call["summary"], path
        assert call["description"], path
        for status, answer in call["responses"].items():
            if status == "default" or status >= "400":
                assert list(answer["content"]) == ["application/problem+json"], (method, path, status)


def test_the_designs_calls_are_there() -> None:
    found = {(method.upper(), path) for method, path, _ in calls(description.make().openapi())}
    design = """
        POST /tokens; GET /conversations; GET /conversations/{}; PATCH /conversations/{};
        DELETE /conversations/{}; GET /conversations/{}/messages; GET /conversations/{}/messages/{};
        GET /messages/{}/trace; GET /sentences/{}/audio; GET /audio/{}; GET /memories; POST /memories;
        GET /memories/{}; PATCH /memories/{}; DELETE /memories/{}; POST /memories/search;
        GET /memories/{}/uses; GET /tools; PATCH /tools/{}; GET /export; POST /import; DELETE /me
    """
    wanted = {tuple(each.split()) for each in design.split(";")}
    assert wanted <= {
        (method, re.sub(r"{\w+}", "{}", path.removeprefix("/api/v1"))) for method, path in found
    }


def test_the_examples_fit_their_schemas() -> None:
    schema = description.make().openapi()
    tried = 0
    for shape in schema["components"]["schemas"].values():
        for example in shape.get("examples", []):
            jsonschema.validate(example, {**shape, "components": schema["components"]})
            tried += 1
        for each in shape.get("properties", {}).values():
            for example in each.get("examples", []):
                jsonschema.validate(example, {**each, "components": schema["components"]})
                tried += 1
    assert tried > 10


async def test_the_page_shows_every_call_without_any_script(anybody: httpx2.AsyncClient) -> None:
    page = await anybody.get("/docs")
    assert page.status_code == 200
    assert "<script" not in page.text
    assert "http://" not in page.text
    assert "https://" not in page.text
    for path in description.make().openapi()["paths"]:
        assert path in page.text
    assert (await anybody.get("/openapi.json")).json() == json.loads(FILE.read_text())
