"""`/documents`: files that Alicia remembers piece by piece."""

from typing import Annotated, Any, Final

from fastapi import Query, Request

from alicia.api.calls import Calls
from alicia.api.problems import Problem, documented
from alicia.api.scope import Shared, Writer
from alicia.api.shapes import NO_NUL, Answer, shown
from alicia.memory.documents import import_document
from alicia.memory.reading import UnreadableDocument

routes = Calls("memories")

Name = Annotated[str, Query(min_length=1, max_length=500, pattern=NO_NUL, examples=["notes/boat.md"])]
Tag = Annotated[str, Query(min_length=1, max_length=200, pattern=NO_NUL)]
_BYTES: Final[dict[str, Any]] = {
    "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
}


class Remembered(Answer, frozen=True, kw_only=True):
    """What became of a document's pieces: those that are new, as before, and no longer there."""

    document: Annotated[str, shown("notes/boat.md")]
    added: Annotated[int, shown(12)]
    kept: Annotated[int, shown(0)]
    removed: Annotated[int, shown(0)]


@routes.put(
    "/documents",
    summary="Remember a document",
    responses=documented(401, 413, 422, 429, 503),
    openapi_extra={"requestBody": {"required": True, "content": _BYTES}},
)
async def put_document(
    request: Request,
    name: Name,
    user: Writer,
    shared: Shared,
    tag: Annotated[list[Tag] | None, Query()] = None,
) -> Remembered:
    """Make what is remembered of a document that of this version of it.

    Its kind is told by the ending of its name: text, Markdown, HTML or PDF.
    """
    data = await request.body()
    if not data:
        raise Problem(422, "Send the document itself as the body; there was none.")
    try:
        done = await import_document(shared.pool, shared.embedder, user, name, data, tags=tag or ())
    except UnreadableDocument as error:
        raise Problem(422, str(error)) from error
    return Remembered(document=done.document, added=done.added, kept=done.kept, removed=done.removed)
