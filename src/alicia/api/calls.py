"""Calls whose answers are structs: encoded in one step, and described like everything else."""

from collections.abc import Awaitable, Callable
from functools import wraps
from inspect import get_annotations
from typing import Any, Final, get_origin

import msgspec
from fastapi import APIRouter, Response
from fastapi.routing import APIRoute

from alicia.api.shapes import Answer

PREFIX: Final = "/api/v1"
SCHEMAS: Final = "#/components/schemas/{name}"

schemas: Final[dict[str, Any]] = {}
"""Of all answers that were described, by name."""

_encode: Final = msgspec.json.Encoder().encode


def as_json(answer: Answer, status: int = 200) -> Response:
    """The answer as a response."""
    return Response(_encode(answer), status, media_type="application/json")


def described(kind: Any) -> dict[str, Any]:
    """An answer of this kind, for the OpenAPI description of a call."""
    (schema,), named = msgspec.json.schema_components([kind], ref_template=SCHEMAS)
    schemas.update(named)
    return {"description": "Successful Response", "content": {"application/json": {"schema": schema}}}


class Calls(APIRouter):
    """A router for handlers that return an Answer.

    FastAPI would check and copy each answer field by field before encoding it, which for a page of messages
    takes longer than to read them. The types of a struct are checked when it is made of a row.
    """

    def __init__(self, tag: str) -> None:
        super().__init__(prefix=PREFIX, tags=[tag], generate_unique_id_function=_name)

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **settings: Any) -> None:
        """Add a call; one that returns an Answer is described and encoded as such."""
        kind = get_annotations(endpoint).get("return")
        if _is_answer(kind):
            status = settings.get("status_code") or 200
            settings["responses"] = {status: described(kind), **(settings.get("responses") or {})}
            settings["response_model"] = None
            endpoint = _encoded(endpoint, status)
        super().add_api_route(path, endpoint, **settings)


def _name(route: APIRoute) -> str:
    """A call is named like its function, so that generated clients read well."""
    return route.name


def _is_answer(kind: Any) -> bool:
    plain = get_origin(kind) or kind
    return isinstance(plain, type) and issubclass(plain, Answer)


def _encoded(endpoint: Callable[..., Awaitable[Answer]], status: int) -> Callable[..., Awaitable[Response]]:
    @wraps(endpoint)
    async def encoded(*args: Any, **kwargs: Any) -> Response:
        return as_json(await endpoint(*args, **kwargs), status)

    return encoded
