"""The web client's files, compressed, with its first page for every address that is the client's own."""

import gzip
import os
from functools import lru_cache
from pathlib import Path
from typing import Final

from fastapi.staticfiles import StaticFiles
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Scope

COMPRESSIBLE: Final = frozenset({".html", ".js", ".mjs", ".css", ".svg", ".json", ".map", ".txt", ".wasm"})
SMALLEST: Final = 500
"""In bytes; what is smaller does not get shorter."""
OURS: Final = ("api/", "docs", "openapi.json", "healthz", "readyz", "metrics")
"""Addresses of the server's own, which are never the client's."""


class WebFiles(StaticFiles):
    """Files whose names hold their hash are kept by browsers for a year; all others are asked for again."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        try:
            response = await super().get_response(path, scope)
        except HTTPException as error:
            is_page = "text/html" in Headers(scope=scope).get("accept", "") and not Path(path).suffix
            if error.status_code != 404 or not is_page or path.startswith(OURS):
                raise
            response = await super().get_response("index.html", scope)
        hashed = path.startswith("assets/")
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if hashed else "no-cache"
        return response

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        suffix = Path(full_path).suffix
        if suffix not in COMPRESSIBLE or stat_result.st_size < SMALLEST or response.status_code != 200:
            return response
        response.headers["Vary"] = "Accept-Encoding"
        asked = Headers(scope=scope)
        if "gzip" not in asked.get("accept-encoding", "") or "range" in asked:
            return response
        data = _compressed(str(full_path), stat_result.st_mtime_ns, stat_result.st_size)
        headers = {name: value for name, value in response.headers.items() if name != "content-length"}
        headers["etag"] = f"W/{headers['etag']}" if "etag" in headers else ""
        return Response(
            b"" if scope["method"] == "HEAD" else data,
            status_code,
            {**headers, "Content-Encoding": "gzip", "Content-Length": str(len(data))},
        )


@lru_cache(maxsize=200)
def _compressed(path: str, modified: int, size: int) -> bytes:
    """A file as it was at this time, which it is compressed once for."""
    return gzip.compress(Path(path).read_bytes(), 9, mtime=0)
