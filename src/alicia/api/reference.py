"""`/docs`: the calls as a page without a line of script, made from the OpenAPI description."""

import json
from html import escape
from typing import Any, cast

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Alicia: the HTTP interface</title>
<link rel="stylesheet" href="/pages/plain.css">
</head>
<body class="wide">
<h1>Alicia: the HTTP interface</h1>
<p>{about}</p>
<p>For programs: <a href="/openapi.json">openapi.json</a></p>
{calls}
</body>
</html>
"""


def install(app: FastAPI) -> None:
    """Serve the page; it is made when it is first asked for."""
    made: list[str] = []

    async def docs() -> HTMLResponse:
        if not made:
            made.append(page(app.openapi()))
        return HTMLResponse(made[0])

    app.add_api_route("/docs", docs, include_in_schema=False)


def page(description: dict[str, Any]) -> str:
    """The whole page."""
    schemas = description["components"]["schemas"]
    calls = [
        _call(method, path, call, schemas)
        for path, methods in description["paths"].items()
        for method, call in methods.items()
    ]
    return PAGE.format(about=escape(description["info"].get("description", "")), calls="\n".join(calls))


def _call(method: str, path: str, call: dict[str, Any], schemas: dict[str, Any]) -> str:
    rows = [
        f"<tr><td><code>{escape(each['name'])}</code></td><td>{escape(each['in'])}</td>"
        f"<td>{escape(_kind(each['schema']))}</td><td>{escape(each.get('description', ''))}</td></tr>"
        for each in call.get("parameters", [])
    ]
    parameters = f"<table>{''.join(rows)}</table>" if rows else ""
    body = ""
    for content in call.get("requestBody", {}).get("content", {}).values():
        body = f"<h3>Body</h3>{_shape(content['schema'], schemas)}"
    answers = [
        f"<h3>{status} {escape(answer.get('description', ''))}</h3>{_answer(answer, schemas)}"
        for status, answer in call["responses"].items()
        if status < "400"
    ]
    errors = ", ".join(
        f"{status} {answer['description']}" for status, answer in call["responses"].items() if status >= "400"
    )
    return (
        f"<details><summary><code><b>{method.upper()}</b> {escape(path)}</code> {escape(call['summary'])}"
        f"</summary><p>{escape(call.get('description', ''))}</p>{parameters}{body}{''.join(answers)}"
        f"<p>Errors: {escape(errors) or 'none of its own'}</p></details>"
    )


def _answer(answer: dict[str, Any], schemas: dict[str, Any]) -> str:
    for media_type, content in answer.get("content", {}).items():
        if "schema" in content and media_type == "application/json":
            return _shape(content["schema"], schemas)
        return f"<p>{escape(', '.join(answer['content']))}</p>"
    return ""


def _shape(schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    """A schema and those that it names, each written once."""
    named = _named(schema)
    seen: list[str] = []
    while named:
        name = named.pop(0)
        if name not in seen:
            seen.append(name)
            named += _named(schemas[name])
    parts = [f"<p>{escape(_kind(schema))}</p>", *(_fields(name, schemas[name]) for name in seen)]
    return "".join(parts)


def _fields(name: str, schema: dict[str, Any]) -> str:
    required = schema.get("required", [])
    rows = [
        f"<tr><td><code>{escape(field)}</code>{'' if field in required else '?'}</td>"
        f"<td>{escape(_kind(each))}</td><td>{escape(each.get('description', ''))}</td></tr>"
        for field, each in schema.get("properties", {}).items()
    ]
    about = f"{escape(name)}: {escape(schema.get('description', ''))}"
    return f"<table><caption>{about}</caption>{''.join(rows)}</table>"


def _named(schema: Any) -> list[str]:
    inner: list[Any] = []
    if isinstance(schema, dict):
        fields = cast("dict[str, Any]", schema)
        inner = [*fields.values()]
        if isinstance(fields.get("$ref"), str):
            return [fields["$ref"].rsplit("/", 1)[1]]
    elif isinstance(schema, list):
        inner = cast("list[Any]", schema)
    return [name for each in inner for name in _named(each)]


def _kind(schema: dict[str, Any]) -> str:
    """A type in a few words."""
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or "any value")
