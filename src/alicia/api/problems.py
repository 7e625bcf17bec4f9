"""Errors as RFC 9457 problem details."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import psycopg
import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from psycopg_pool import PoolClosed, PoolTimeout
from pydantic import BaseModel, Field
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException

from alicia.errors import DatabaseUnavailable, ModelUnavailable, NotFound

log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"


class Problem(Exception):
    """An answer that says what is wrong in a sentence."""

    def __init__(self, status: int, detail: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers


class ProblemDetails(BaseModel):
    """What went wrong (RFC 9457)."""

    type: str = Field(examples=["about:blank"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["There is no such conversation."])


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """These errors, for the OpenAPI description of a call."""
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}},
        }
        for status in statuses
    }


def answer(status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The problem as a response."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return JSONResponse(body, status, headers, media_type=MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Every error of this application has the same form."""
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(NotFound, _not_found)
    app.add_exception_handler(Exception, _unforeseen)
    for kind in (psycopg.OperationalError, PoolTimeout, PoolClosed, DatabaseUnavailable, ModelUnavailable):
        app.add_exception_handler(kind, _away)


def _problem(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Problem)  # noqa: S101 - registered for this type only
    return answer(error.status, error.detail, error.headers)


def _http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this type only
    return answer(error.status_code, str(error.detail), error.headers)


def _validation(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this type only
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return answer(422, f"{place}: {_in_words(first)}")


def _in_words(error: Mapping[str, Any]) -> str:
    """What a person is told; of ids, not as a regular expression."""
    pattern = error.get("ctx", {}).get("pattern", "")
    if prefixes := re.match(r"\^\(\?:([a-z|]+)\)_", pattern):
        return f"this is no whole id such as {prefixes[1].replace('|', '_… or ')}_…"
    return error["msg"]


def _not_found(_: Request, error: Exception) -> JSONResponse:
    return answer(404, str(error))


def _away(request: Request, error: Exception) -> JSONResponse:
    log.warning("database away", reason=type(error).__name__)
    detail = "The database does not answer; try again in a moment."
    if isinstance(error, ModelUnavailable):
        detail = str(error)
    response = answer(503, detail, {"Retry-After": "2"})
    if isinstance(error, psycopg.OperationalError):
        # A server that restarted has cut all connections of the pool, and each would fail another call.
        response.background = BackgroundTask(request.app.state.services.pool.check)
    return response


def _unforeseen(_: Request, error: Exception) -> JSONResponse:
    return answer(500, "Something went wrong on the server; its log says what.")
