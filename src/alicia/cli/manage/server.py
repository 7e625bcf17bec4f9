"""The server that commands speak to."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from alicia.errors import AliciaError

Url = Annotated[
    str | None,
    typer.Option(
        "--url", help="The server; by default ALICIA_URL, or the one of ALICIA_HOST and ALICIA_PORT."
    ),
]
Token = Annotated[
    str | None, typer.Option("--token", help="The bearer token, if the server asks for one; or ALICIA_TOKEN.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]


class Server:
    """The API's calls; what it refuses is an AliciaError with its own words."""

    def __init__(self, url: str | None, token: str | None) -> None:
        import httpx2

        from alicia.config import Config

        config = Config.from_environ()
        token = token or config.token
        self.base = (url or config.api_url or config.url).rstrip("/")
        self._http = httpx2.Client(
            base_url=f"{self.base}/api/v1",
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=httpx2.Timeout(10, read=600),
        )

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, **query: Any) -> Any:
        return self._call("GET", path, params=_given(query)).json()

    def text(self, path: str, **query: Any) -> str:
        return self._call("GET", path, params=_given(query)).text

    def post(self, path: str, body: Any) -> Any:
        return self._call("POST", path, json=body).json()

    def patch(self, path: str, **fields: Any) -> Any:
        return self._call("PATCH", path, json=_given(fields)).json()

    def delete(self, path: str, **query: Any) -> None:
        self._call("DELETE", path, params=_given(query))

    def upload(self, path: str, content: Any) -> Any:
        return self._call("POST", path, content=content, headers={"Content-Type": "application/zip"}).json()

    def put(self, path: str, content: bytes, **query: Any) -> Any:
        headers = {"Content-Type": "application/octet-stream"}
        return self._call("PUT", path, content=content, params=_given(query), headers=headers).json()

    def every(self, path: str, limit: int, **query: Any) -> list[dict[str, Any]]:
        """The first so many items of a list, page after page."""
        items: list[dict[str, Any]] = []
        before: str | None = None
        while len(items) < limit:
            page = self.get(path, **query, limit=min(200, limit - len(items)), before=before)
            items += page["items"]
            before = page.get("next")
            if before is None:
                break
        return items

    @contextmanager
    def download(self, path: str) -> Generator[Generator[bytes]]:
        """The pieces of a long answer."""
        import httpx2

        try:
            with self._http.stream("GET", path) as answer:
                if answer.status_code >= 400:
                    answer.read()
                    raise _refusal(self.base, answer)
                yield (piece for piece in answer.iter_bytes(2**20))
        except httpx2.HTTPError as error:
            raise self._silent(error) from error

    def _call(self, method: str, path: str, **request: Any) -> Any:
        import httpx2

        try:
            answer = self._http.request(method, path, **request)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._silent(error) from error
        if answer.status_code >= 400:
            raise _refusal(self.base, answer)
        return answer

    def _silent(self, error: Exception) -> AliciaError:
        return AliciaError(f"{self.base} does not answer ({type(error).__name__}). Is `alicia up` running?")


@contextmanager
def connected(url: str | None, token: str | None) -> Generator[Server]:
    """The server that is meant."""
    server = Server(url, token)
    try:
        yield server
    finally:
        server.close()


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _refusal(base: str, answer: Any) -> AliciaError:
    try:
        detail = str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        detail = f"{base} answered {answer.status_code}."
    if answer.status_code == 401:
        detail += " Use --token or ALICIA_TOKEN; `alicia token --user NAME` makes one."
    return AliciaError(detail)
