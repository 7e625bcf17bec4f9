"""The calls together, and their OpenAPI description: one file, the same on every machine."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from fastapi import FastAPI

from alicia.api import (
    archive,
    conversations,
    documents,
    memories,
    messages,
    session,
    settings,
    sound,
    tokens,
    tools,
    traces,
    voices,
)
from alicia.api.calls import schemas
from alicia.api.problems import MEDIA_TYPE, ProblemDetails

ABOUT: Final = (
    "Everything about conversations that is not live. Errors are problem details (RFC 9457). Lists answer "
    "`items` and `next`, which is the `before` of the next page. Where the server asks for a login, send a "
    "bearer token; every call sees only what belongs to its user."
)
ROUTERS: Final = (
    tokens.routes,
    conversations.routes,
    messages.routes,
    traces.routes,
    sound.routes,
    memories.routes,
    documents.routes,
    tools.routes,
    session.routes,
    settings.routes,
    voices.routes,
    archive.routes,
)


def make(lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None) -> FastAPI:
    """An application with all calls."""
    app = FastAPI(
        title="Alicia",
        description=ABOUT,
        version="1",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    for routes in ROUTERS:
        # Not `include_router`, which looks through one router after the other for each request.
        app.routes.extend(routes.routes)
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _completed(generate())
        return app.openapi_schema

    app.openapi = openapi
    return app


def _completed(schema: dict[str, Any]) -> dict[str, Any]:
    """Say that errors are problems, and how to log in."""
    components = schema["components"]
    for name in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(name, None)
    components["schemas"] |= {name: schemas[name] for name in sorted(schemas)}
    components["schemas"]["ProblemDetails"] = ProblemDetails.model_json_schema()
    components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}}
    # An empty alternative: on loopback nobody logs in.
    schema["security"] = [{"bearer": []}, {}]
    problem = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}}
    for methods in schema["paths"].values():
        for call in methods.values():
            call["responses"]["default"] = {"description": "What went wrong", "content": problem}
    return schema
