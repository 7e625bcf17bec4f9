"""Who is calling: the one local user, or the subject of a bearer token."""

import jwt
from fastapi import Request

from alicia.api.problems import Problem

LOCAL_USER = "local"
CLOCK_SKEW_SECONDS = 30


class Auth:
    """With no secret there is one user, and the server listens on loopback only."""

    def __init__(self, secret: str | None) -> None:
        self._secret = secret

    def __call__(self, request: Request) -> str:
        """The user's name, for FastAPI's `Depends`."""
        if self._secret is None:
            return LOCAL_USER
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Problem(401, "Send a bearer token.", headers={"WWW-Authenticate": "Bearer"})
        try:
            claims: dict[str, object] = jwt.decode(
                token,
                self._secret,
                algorithms=["HS256"],
                leeway=CLOCK_SKEW_SECONDS,
                options={"require": ["sub", "exp"]},
            )
        except jwt.InvalidTokenError as error:
            raise Problem(
                401, f"The token is not valid: {error}.", headers={"WWW-Authenticate": "Bearer"}
            ) from None
        user = claims["sub"]
        if not isinstance(user, str) or not user or ":" in user or len(user) > 100:
            raise Problem(401, "The token's subject must be a name of up to 100 characters without a colon.")
        return user
