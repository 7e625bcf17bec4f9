"""Asking the server for a way into a conversation's room."""

from collections.abc import Callable
from typing import Final, TypeAlias

import httpx2
import msgspec

from alicia.client.errors import Forbidden, Unavailable
from alicia.errors import AliciaError, NotFound

PATIENCE: Final = 10.0
Token: TypeAlias = str | Callable[[], str] | None
"""A bearer token, or what gives a fresh one whenever the server is asked."""


class Access(msgspec.Struct, frozen=True, rename="camel"):
    """What lets this device into one room for a while."""

    url: str
    token: str
    room: str
    conversation_id: str
    identity: str


class _Problem(msgspec.Struct):
    detail: str = ""


class Door:
    """The server's `POST /tokens`, which also sees to it that an agent comes."""

    def __init__(self, base: str, token: Token) -> None:
        self.base = base.rstrip("/")
        self._token = token
        self._http = httpx2.AsyncClient(timeout=PATIENCE)

    async def aclose(self) -> None:
        await self._http.aclose()

    async def knock(self, conversation_id: str | None, device: str) -> Access:
        """Unavailable is worth another try; NotFound, Forbidden and AliciaError are not."""
        wanted = {"conversationId": conversation_id} if conversation_id else {}
        token = self._token() if callable(self._token) else self._token
        try:
            answer = await self._http.post(
                f"{self.base}/api/v1/tokens",
                json={**wanted, "device": device},
                headers={"Authorization": f"Bearer {token}"} if token else {},
            )
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise AliciaError(f"{self.base!r} is no address of a server: {error}") from error
        except httpx2.HTTPError as error:
            raise Unavailable(f"{self.base} does not answer ({type(error).__name__}).") from error
        if answer.status_code == 201:
            try:
                return msgspec.json.decode(answer.content, type=Access)
            except msgspec.MsgspecError as error:
                raise AliciaError(f"{self.base} does not seem to be an Alicia server: {error}") from error
        raise self._refusal(answer)

    def _refusal(self, answer: httpx2.Response) -> AliciaError:
        try:
            detail = msgspec.json.decode(answer.content, type=_Problem).detail
        except msgspec.MsgspecError:
            detail = ""
        detail = detail or f"{self.base} answered {answer.status_code}."
        match answer.status_code:
            case 401 | 403:
                return Forbidden(detail)
            case 404 if answer.headers.get("content-type", "").startswith("application/problem+json"):
                return NotFound(detail)
            case 429:
                return Unavailable(detail)
            case status if status >= 500:
                return Unavailable(detail)
            case _:
                return AliciaError(detail)
