"""Why a model did not answer, in a sentence that says what to do."""

import re
from typing import Any, cast

import httpx2
import openai

from alicia.errors import ModelUnavailable, without_password

_RETRYABLE = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_SPACE = re.compile(r"\s+")


class BrokenOffError(Exception):
    """The stream ended without saying that the answer was finished."""


FAILURES = (openai.OpenAIError, TimeoutError, ValueError, BrokenOffError)
"""Everything that the SDK and the server can do to us; ValueError is a reply that is no JSON."""


def retryable(error: Exception) -> bool:
    """Whether the same request may well succeed in a moment.

    A model that took too long is not asked again: it is busy, and would only become busier.
    """
    if isinstance(error, openai.APIStatusError):
        return error.status_code in _RETRYABLE
    return isinstance(error, openai.APIConnectionError | BrokenOffError) and not isinstance(
        error, openai.APITimeoutError
    )


def retry_after(error: Exception) -> float | None:
    """How many seconds the server asks us to wait, when it says so."""
    if not isinstance(error, openai.APIStatusError):
        return None
    try:
        return max(0.0, float(error.response.headers.get("retry-after", "")))
    except ValueError:
        return None


def explain(
    error: Exception, *, url: str, model: str, variables: str, api_key: str | None = None
) -> ModelUnavailable:
    """Turn any failure into a sentence; `variables` is what our settings' names begin with.

    Users read it, so neither the key nor a password in the address is in it, whatever the server said.
    """
    reason, said = _sentence(error, without_password(url), model, variables), _said(error)
    if api_key:
        reason, said = reason.replace(api_key, "…"), said and said.replace(api_key, "…")
    return ModelUnavailable(reason, said)


def _sentence(error: Exception, url: str, model: str, variables: str) -> str:
    match error:
        case openai.APIStatusError():
            return _status(error, url, model, variables)
        case openai.APIConnectionError(__cause__=httpx2.ConnectError() | httpx2.ConnectTimeout()):
            return f"No model server answers at {url}: start it, or set {variables}_URL."
        case TimeoutError() | openai.APITimeoutError():
            return f"The model at {url} took too long: wait for it, or check that its server is healthy."
        case openai.APIConnectionError():
            return f"The connection to the model at {url} failed: check its server, or set {variables}_URL."
        case BrokenOffError():
            return f"The model at {url} broke off in mid-answer: check its server's log, and ask again."
        case openai.APIError():
            return f"The model at {url} failed in mid-answer: check its server's log, and ask again."
        case _:
            return f"What answered at {url} is no OpenAI-compatible server: set {variables}_URL."


def _status(error: openai.APIStatusError, url: str, model: str, variables: str) -> str:
    match error.status_code:
        case 401 | 403:
            return f"The model server at {url} refused the key: set {variables}_API_KEY."
        case 404:
            return f"The server at {url} has no model {model!r}: set {variables}_MODEL."
        case 429:
            return f"The model server at {url} is busy or its quota is used up: try again later."
        case 400 | 413 | 422:
            return f"The model at {url} did not take the request."
        case status:
            return f"The model server at {url} failed ({status}): try again, or see its log."


def _said(error: Exception) -> str | None:
    """The server's own words, short and on one line, if it was the server that failed."""
    if not isinstance(error, openai.APIError) or isinstance(error, openai.APIConnectionError):
        return None
    text = error.message
    if isinstance(error.body, dict):
        text = str(cast(dict[str, Any], error.body).get("message", text))
    return _SPACE.sub(" ", text).strip()[:200] or "nothing"
