"""Who may call, and who may not."""

import base64
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from alicia.config import Config
from alicia.errors import ConfigError
from support.callers import SECRET, Open, bearer, token

ME = "/api/v1/me"
CALLS = (
    ("POST", "/tokens"),
    ("GET", "/conversations"),
    ("GET", "/memories"),
    ("POST", "/memories"),
    ("POST", "/memories/search"),
    ("GET", "/tools"),
    ("PATCH", "/tools/x"),
    ("GET", "/me"),
)


def unsigned(claims: dict[str, Any]) -> str:
    parts = [json.dumps(part).encode() for part in ({"alg": "none", "typ": "JWT"}, claims)]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts) + "."


async def test_every_call_asks_for_a_token(anybody: httpx2.AsyncClient) -> None:
    for method, path in CALLS:
        answer = await anybody.request(method, f"/api/v1{path}", json={} if method != "GET" else None)
        assert answer.status_code == 401, path
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["detail"] == "Send a bearer token."


async def test_bad_tokens_are_refused(anybody: httpx2.AsyncClient, user: str) -> None:
    now = int(time.time())
    for bad in (
        token(user, "another secret, which is also long enough"),
        token(user, exp=now - 60),
        token(user, nbf=now + 60),
        token(""),
        token("a:b"),
        token("a" * 101),
        token("a\nb"),
        jwt.encode({"sub": user}, SECRET, algorithm="HS256"),
        jwt.encode({"exp": now + 60}, SECRET, algorithm="HS256"),
        jwt.encode({"sub": user, "exp": now + 60}, SECRET * 2, algorithm="HS512"),
        unsigned({"sub": user, "exp": now + 60}),
        "nonsense",
        "a.b.c",
    ):
        answer = await anybody.get(ME, headers={"Authorization": f"Bearer {bad}"})
        assert answer.status_code == 401, bad
    for header in ("Basic dXNlcjpwYXNz", "Bearer", "Bearer ", ""):
        assert (await anybody.get(ME, headers={"Authorization": header})).status_code == 401


async def test_clocks_may_differ_a_little(anybody: httpx2.AsyncClient, user: str) -> None:
    now = int(time.time())
    late = await anybody.get(ME, headers=bearer(user, exp=now - 5, nbf=now - 60))
    assert late.json() == {"user": user, "admin": False, "auth": True}
    assert (await anybody.get(ME, headers=bearer(user, nbf=now + 5))).status_code == 200


async def test_audience_and_issuer_are_checked_where_configured(serving: Open, user: str) -> None:
    async with serving(auth_audience="alicia", auth_issuer="us") as client:
        good = await client.get(ME, headers=bearer(user, aud=["alicia", "other"], iss="us"))
        assert good.status_code == 200
        for claims in (
            {},
            {"aud": "alicia"},
            {"iss": "us"},
            {"aud": "other", "iss": "us"},
            {"aud": "alicia", "iss": "they"},
        ):
            assert (await client.get(ME, headers=bearer(user, **claims))).status_code == 401, claims
    async with serving() as client:
        assert (await client.get(ME, headers=bearer(user, aud="any", iss="they"))).status_code == 200


async def test_only_an_administrator_changes_what_concerns_all(
    anybody: httpx2.AsyncClient, user: str
) -> None:
    switch = {"enabled": False}
    refused = await anybody.patch("/api/v1/tools/none", json=switch, headers=bearer(user))
    assert refused.status_code == 403
    allowed = await anybody.patch("/api/v1/tools/none", json=switch, headers=bearer(user, alicia_admin=True))
    assert allowed.status_code == 404


async def test_on_loopback_there_is_one_user_and_no_other_sites_page_gets_in(serving: Open) -> None:
    async with serving(auth_secret=None) as client:
        assert (await client.get(ME)).json() == {"user": "local", "admin": True, "auth": False}
        for host in ("localhost:8080", "127.0.0.1", "[::1]:8080"):
            assert (await client.get(ME, headers={"Host": host})).status_code == 200
        for host in ("evil.example", "evil.example:8080", "127.0.0.1.evil.example", ""):
            assert (await client.get(ME, headers={"Host": host})).status_code == 403, host
        assert (await client.get(ME, headers={"Origin": "http://127.0.0.1:5173"})).status_code == 200
        for origin in ("https://evil.example", "null", "http://localhost.evil.example"):
            refused = await client.post("/api/v1/memories", json={"content": "x"}, headers={"Origin": origin})
            assert refused.status_code == 403, origin


def test_without_a_login_the_server_stays_on_loopback() -> None:
    for host in ("0.0.0.0", "::", "192.168.1.5", "alicia.example"):
        with pytest.raises(ConfigError, match="ALICIA_AUTH_SECRET"):
            Config.from_environ({"ALICIA_HOST": host})
        assert Config.from_environ({"ALICIA_HOST": host, "ALICIA_AUTH_SECRET": SECRET}).host == host


async def test_a_browser_signs_in_with_a_token_and_out_again(anybody: httpx2.AsyncClient, user: str) -> None:
    page = await anybody.get("/sign-in")
    assert page.status_code == 200
    assert "/pages/sign-in.js" in page.text
    assert (await anybody.get("/pages/sign-in.js")).status_code == 200
    refused = await anybody.post("/api/v1/session", json={"token": "a.b.c"})
    assert refused.status_code == 401
    signed = await anybody.post("/api/v1/session", json={"token": token(user)})
    assert signed.json()["user"] == user
    cookie = signed.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert (await anybody.get(ME)).json()["user"] == user
    made = await anybody.post(
        "/api/v1/memories", json={"content": "x"}, headers={"Origin": "http://127.0.0.1:8080"}
    )
    assert made.status_code == 201
    other = await anybody.post(
        "/api/v1/memories", json={"content": "x"}, headers={"Origin": "http://127.0.0.1:9"}
    )
    assert other.status_code == 403
    assert (await anybody.delete("/api/v1/session")).status_code == 204
    assert (await anybody.get(ME)).status_code == 401


class Keys:
    """An identity provider's keys, behind an address."""

    def __init__(self) -> None:
        self.rsa = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.ec = ec.generate_private_key(ec.SECP256R1())
        self.shown = ["rsa"]
        self.fetched = 0
        self.status = 200
        keys = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                keys.fetched += 1
                body = json.dumps({"keys": [keys.public(name) for name in keys.shown]}).encode()
                self.send_response(keys.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/jwks.json"

    def public(self, name: str) -> dict[str, Any]:
        if name == "oct":
            return {"kty": "oct", "k": "c2VjcmV0", "kid": "oct", "alg": "HS256"}
        if name == "rsa":
            key = RSAAlgorithm.to_jwk(self.rsa.public_key(), as_dict=True)
            return {**key, "kid": name, "alg": "RS256", "use": "sig"}
        key = ECAlgorithm.to_jwk(self.ec.public_key(), as_dict=True)
        return {**key, "kid": name, "alg": "ES256", "use": "sig"}

    def token(self, user: str, kid: str = "rsa", **claims: Any) -> dict[str, str]:
        key, algorithm = (self.rsa, "RS256") if kid == "rsa" else (self.ec, "ES256")
        signed = jwt.encode(
            {"sub": user, "exp": 2_000_000_000, **claims}, key, algorithm=algorithm, headers={"kid": kid}
        )
        return {"Authorization": f"Bearer {signed}"}


@pytest.fixture
def keys() -> Iterator[Keys]:
    found = Keys()
    thread = threading.Thread(target=found.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield found
    found.server.shutdown()
    thread.join()
    found.server.server_close()


async def test_tokens_of_an_identity_provider_are_checked_with_its_keys(
    serving: Open, user: str, keys: Keys
) -> None:
    async with serving(auth_secret=None, auth_jwks_url=keys.url) as client:
        for _ in range(3):
            assert (await client.get(ME, headers=keys.token(user))).json()["user"] == user
        assert keys.fetched == 1
        assert (await client.get(ME, headers=keys.token(user, exp=1))).status_code == 401
        assert (await client.get(ME, headers=bearer(user))).status_code == 401
        stranger = Keys()
        assert (await client.get(ME, headers=stranger.token(user))).status_code == 401
        stranger.server.server_close()
        # A public key used as if it were a shared secret.
        confused = jwt.encode({"sub": user, "exp": 2_000_000_000}, "x" * 40, "HS256", headers={"kid": "rsa"})
        assert (await client.get(ME, headers={"Authorization": f"Bearer {confused}"})).status_code == 401
        # The set is not fetched again for every unknown key.
        assert (await client.get(ME, headers=keys.token(user, "ec"))).status_code == 401
        assert keys.fetched == 1


async def test_symmetric_keys_in_a_public_set_count_for_nothing(serving: Open, user: str, keys: Keys) -> None:
    keys.shown = ["oct", "ec"]
    async with serving(auth_secret=None, auth_jwks_url=keys.url) as client:
        assert (await client.get(ME, headers=keys.token(user, "ec"))).json()["user"] == user
        forged = jwt.encode(
            {"sub": user, "exp": 2_000_000_000}, "c2VjcmV0" * 5, "HS256", headers={"kid": "oct"}
        )
        assert (await client.get(ME, headers={"Authorization": f"Bearer {forged}"})).status_code == 401


async def test_keys_that_cannot_be_had_are_the_servers_trouble(serving: Open, user: str, keys: Keys) -> None:
    keys.status = 500
    async with serving(auth_secret=None, auth_jwks_url=keys.url) as client:
        answer = await client.get(ME, headers=keys.token(user))
        assert answer.status_code == 503
        assert "ALICIA_AUTH_JWKS_URL" in answer.json()["detail"]
