"""The public keys of whoever signs the users' tokens, fetched from an address and kept for a while."""

import asyncio
import time
from typing import Final

import httpx2
import jwt

KEEP_SECONDS: Final = 600.0
AGAIN_SECONDS: Final = 10.0
"""An unknown key's id has the set fetched again, but not more often than this."""
PATIENCE: Final = 5.0


class KeysUnavailable(Exception):
    """The address does not answer with keys."""


class KeySet:
    """A JSON Web Key Set (RFC 7517)."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._http = httpx2.AsyncClient(timeout=PATIENCE)
        self._fetching = asyncio.Lock()
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._fetched = float("-inf")

    async def aclose(self) -> None:
        await self._http.aclose()

    async def find(self, token: str) -> jwt.PyJWK:
        """The key that the token names; jwt.InvalidKeyError if there is none."""
        key_id: str | None = jwt.get_unverified_header(token).get("kid")
        async with self._fetching:
            age = time.monotonic() - self._fetched
            if age > KEEP_SECONDS or (key_id not in self._keys and age > AGAIN_SECONDS):
                await self._fetch()
        if key_id is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        if key_id not in self._keys:
            raise jwt.InvalidTokenError("its key is unknown")
        return self._keys[key_id]

    async def _fetch(self) -> None:
        try:
            answer = await self._http.get(self._url)
            answer.raise_for_status()
            found = jwt.PyJWKSet.from_dict(answer.json())
        except (httpx2.HTTPError, ValueError, jwt.PyJWTError) as error:
            if self._keys:
                # Old keys are better than nobody being let in; they are asked for again soon.
                self._fetched = time.monotonic() - KEEP_SECONDS + AGAIN_SECONDS
                return
            raise KeysUnavailable(f"ALICIA_AUTH_JWKS_URL gives no keys ({type(error).__name__}).") from error
        # A symmetric key in a public set would let anybody sign.
        self._keys = {key.key_id: key for key in found.keys if key.key_type != "oct"}
        self._fetched = time.monotonic()
