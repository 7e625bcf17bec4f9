"""Who is calling: the one local user, or the subject of a bearer token."""

import ipaddress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import jwt
from fastapi import Request

from alicia.api.keys import KeySet, KeysUnavailable
from alicia.api.problems import Problem
from alicia.config import Config

LOCAL_USER: Final = "local"
CLOCK_SKEW_SECONDS: Final = 30
COOKIE: Final = "alicia_session"
"""Holds a browser's bearer token: it asks for sound and downloads by itself, without headers."""
ADMIN_CLAIM: Final = "alicia_admin"
LONGEST_NAME: Final = 100
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True)
class Caller:
    """A user; `admin` says whether they may change what concerns all users."""

    user: str
    admin: bool = False


class Auth:
    """With neither secret nor keys there is one user, and the server listens on loopback only."""

    def __init__(
        self,
        secret: str | None = None,
        keys: KeySet | None = None,
        *,
        audience: str | None = None,
        issuer: str | None = None,
    ) -> None:
        self._secret, self._keys = secret, keys
        self._audience, self._issuer = audience, issuer

    @classmethod
    def of(cls, config: Config) -> "Auth":
        """As configured. Both kinds may be set; a token's algorithm says which is meant."""
        keys = KeySet(config.auth_jwks_url) if config.auth_jwks_url else None
        return cls(config.auth_secret, keys, audience=config.auth_audience, issuer=config.auth_issuer)

    @property
    def required(self) -> bool:
        """Whether callers must prove who they are."""
        return self._secret is not None or self._keys is not None

    async def aclose(self) -> None:
        if self._keys is not None:
            await self._keys.aclose()

    async def __call__(self, request: Request) -> Caller:
        """The caller, or Problem 401; 403 for what another site makes a browser send."""
        if not self.required:
            _check_local(request)
            return Caller(LOCAL_USER, admin=True)
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            token = request.cookies.get(COOKIE, "")
            if token and request.method not in SAFE_METHODS:
                _check_same_origin(request)
        if not token:
            raise _unauthorized("Send a bearer token.")
        return await self.check(token)

    async def check(self, token: str) -> Caller:
        """Whose token this is, or Problem 401."""
        try:
            claims = await self._claims(token)
        except jwt.InvalidTokenError as error:
            raise _unauthorized(f"The token is not valid: {error}.") from None
        except KeysUnavailable as error:
            raise Problem(503, str(error), headers={"Retry-After": "5"}) from None
        user = claims["sub"]
        if not is_name(user):
            raise _unauthorized(
                f"The token's subject must be a name of up to {LONGEST_NAME} characters without a colon."
            )
        return Caller(user, admin=claims.get(ADMIN_CLAIM) is True)

    async def _claims(self, token: str) -> dict[str, Any]:
        algorithm = jwt.get_unverified_header(token).get("alg")
        if algorithm == "HS256" and self._secret is not None:
            key: Any = self._secret
        elif self._keys is not None and algorithm != "HS256":
            # The key says which algorithm it is for, so a token cannot choose a weaker one.
            key = await self._keys.find(token)
            algorithm = key.algorithm_name
        else:
            raise jwt.InvalidAlgorithmError("the algorithm is not one that is used here")
        return jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            leeway=CLOCK_SKEW_SECONDS,
            audience=self._audience,
            issuer=self._issuer,
            options={
                "require": [
                    "sub",
                    "exp",
                    *(["aud"] if self._audience else []),
                    *(["iss"] if self._issuer else []),
                ],
                "verify_aud": self._audience is not None,
            },
        )


def is_name(user: object) -> bool:
    """Whether this can be a user's name: it stands before a colon in the identities of devices."""
    return isinstance(user, str) and 0 < len(user) <= LONGEST_NAME and ":" not in user and user.isprintable()


def _unauthorized(detail: str) -> Problem:
    return Problem(401, detail, headers={"WWW-Authenticate": "Bearer"})


def _check_local(request: Request) -> None:
    """Nobody logs in here, so no web page from elsewhere may speak through this machine's browser."""
    if not _is_loopback(f"//{request.headers.get('host', '')}"):
        raise Problem(403, "This server is for this machine only: use the address http://127.0.0.1.")
    origin = request.headers.get("origin")
    if origin is not None and not _is_loopback(origin):
        raise Problem(403, "Pages of other sites may not use this server.")


def _check_same_origin(request: Request) -> None:
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host", ""):
        raise Problem(403, "Pages of other sites may not use this server.")


def _is_loopback(address: str) -> bool:
    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
