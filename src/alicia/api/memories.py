"""`/memories`: what Alicia remembers of a user, and where it was used."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

import structlog
from fastapi import Body, Path, Query, Response
from msgspec import UNSET
from pydantic import ConfigDict, Field

from alicia import ids
from alicia.api import cursors
from alicia.api.calls import Calls
from alicia.api.cursors import Before, Limit, Place
from alicia.api.problems import Problem, documented
from alicia.api.scope import Conn, Services, Shared, User, Writer
from alicia.api.shapes import NO_NUL, Answer, FreeMap, Json, Moment, Page, shown
from alicia.errors import ModelUnavailable
from alicia.memory.query import Query as Sought
from alicia.memory.recall import Filter, Found
from alicia.storage import memories as stored
from alicia.storage.keeping import restore_memory

log = structlog.get_logger(__name__)
routes = Calls("memories")

MemoryId = Annotated[str, Path(pattern=f"^{ids.pattern(ids.MemoryId)}$")]
Content = Annotated[str, Field(min_length=1, max_length=20_000, pattern=NO_NUL)]
Word = Annotated[str, Field(min_length=1, max_length=200, pattern=NO_NUL)]
Tags = Annotated[list[Word], Field(max_length=100)]
Share = Annotated[float, Field(ge=0, le=1)]
Rating = Annotated[int, Field(ge=1, le=5)]

MOST: Final = 1_000
"""How many memories one request stores."""
EMBEDDING_PATIENCE: Final = 30.0
"""What has no vector by then is stored without; searches find it by its words."""


class NewMemory(Json):
    """A memory to store."""

    content: Content = Field(examples=["Is allergic to peanuts."])
    importance: Share = 0.5
    confidence: Share = 1.0
    tags: Tags = Field(default_factory=list[str])
    memory_type: Word | None = Field(default=None, examples=["fact"])
    source_type: Word | None = Field(default=None, examples=["import"])
    source_info: FreeMap = Field(default_factory=dict[str, Any])
    pinned: bool = False


class MemoryChange(Json):
    """What is left out stays as it is; `userRating` null takes the rating away."""

    content: Content | None = None
    importance: Share | None = None
    confidence: Share | None = None
    user_rating: Rating | None = None
    tags: Tags | None = None
    pinned: bool | None = None
    archived: bool | None = None
    memory_type: Word | None = None

    model_config = ConfigDict(json_schema_extra={"examples": [{"pinned": True, "userRating": 5}]})


class Memory(Answer, frozen=True, kw_only=True):
    """A memory, without its vector."""

    id: Annotated[str, shown("amem_V1StGXR8_Z5jdHi6B-myT")]
    content: str
    importance: float
    confidence: float
    user_rating: int | None
    source_type: str | None
    source_info: dict[str, Any]
    tags: list[str]
    pinned: bool
    archived: bool
    memory_type: str | None
    superseded_by: str | None
    embeddings_info: dict[str, Any]
    created_at: Moment
    updated_at: Moment


class Stored(Answer, frozen=True, kw_only=True):
    """The ids of what was stored, in the order in which it came."""

    ids: list[str]


class Search(Json):
    """What to look for."""

    query: Annotated[
        str, Field(min_length=1, max_length=2_000, pattern=NO_NUL, examples=["Which nuts to avoid?"])
    ]
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    tags: Tags = Field(default_factory=list[str])
    memory_type: Word | None = None


class Parts(Answer, frozen=True, kw_only=True):
    """How the score is made up: half meaning, half words, times standing."""

    meaning: float
    words: float
    standing: float


class Hit(Memory, frozen=True, kw_only=True):
    """A memory that fits, from 0 to 1."""

    score: float
    parts: Parts


class Hits(Answer, frozen=True, kw_only=True):
    """Best first."""

    items: list[Hit]


class Use(Answer, frozen=True, kw_only=True):
    """One use of a memory, with what was said when it was used."""

    id: str
    conversation_id: str
    message_id: str
    message_content: str
    action: Literal["retrieved", "stored", "updated"]
    similarity_score: float | None
    confidence: float | None
    position_in_results: int | None
    created_at: Moment


@routes.get("/memories", summary="List memories", responses=documented(401, 422, 503))
async def list_memories(
    user: User,
    conn: Conn,
    tag: Annotated[list[Word], Query(max_length=100, description="Only with all of these tags.")] = [],  # noqa: B006
    memory_type: Annotated[Word | None, Query(alias="memoryType")] = None,
    archived: bool = False,
    before: Before = None,
    limit: Limit = 50,
) -> Page[Memory]:
    """Newest first; archived ones only when asked for."""
    place = cursors.decode(Place, before)
    found = await stored.memories(
        conn,
        user,
        tags=tag,
        memory_type=memory_type,
        archived=archived,
        before=place and place.key,
        limit=limit + 1,
    )
    page = found[:limit]
    return Page(
        items=[Memory.of(each) for each in page],
        next=cursors.encode(Place(page[-1].created_at, page[-1].id)) if len(found) > limit else None,
    )


@routes.post(
    "/memories",
    status_code=201,
    summary="Store one memory or many",
    responses=documented(401, 413, 422, 429, 503),
)
async def create_memories(
    memories: Annotated[
        NewMemory | Annotated[list[NewMemory], Field(min_length=1, max_length=MOST)],
        Body(
            openapi_examples={
                "one": {"value": {"content": "Is allergic to peanuts.", "tags": ["health"]}},
                "many": {"value": [{"content": "Plays the cello."}, {"content": "Lives in Bergen."}]},
            }
        ),
    ],
    user: Writer,
    shared: Shared,
) -> Stored:
    """All or none are stored, and can be found at once."""
    listed = memories if isinstance(memories, list) else [memories]
    vectors = await _embed(shared, [each.content for each in listed])
    new = [
        stored.NewMemory(**each.model_dump(), embedding=vector)
        for each, vector in zip(listed, vectors, strict=True)
    ]
    async with shared.pool.connection() as conn:
        made = await stored.create_memories(conn, user, new)
    return Stored(ids=list(made))


@routes.post("/memories/search", summary="Search memories", responses=documented(401, 413, 422, 503))
async def search_memories(search: Search, user: User, shared: Shared) -> Hits:
    """By meaning, words and standing, best first, each with how its score is made up."""
    only = Filter(tags=search.tags, memory_type=search.memory_type)
    found = await shared.searcher.search(user, Sought(message=search.query), only=only, limit=search.limit)
    return Hits(items=[_hit(each) for each in found])


@routes.get("/memories/{memory_id}", summary="Read a memory", responses=documented(401, 404, 422, 503))
async def read_memory(memory_id: MemoryId, user: User, conn: Conn) -> Memory:
    """One memory, also when it is archived."""
    return Memory.of(_there(await stored.memory(conn, user, memory_id)))


@routes.patch(
    "/memories/{memory_id}",
    summary="Change a memory",
    responses=documented(401, 404, 413, 422, 429, 503),
)
async def change_memory(memory_id: MemoryId, change: MemoryChange, user: Writer, shared: Shared) -> Memory:
    """Correct, pin, archive, rate or tag it."""
    vector = None
    if change.content is not None:
        (vector,) = await _embed(shared, [change.content])
    fields = change.model_dump(exclude_unset=True)
    rating = fields.pop("user_rating", UNSET)
    async with shared.pool.connection() as conn:
        changed = await stored.update_memory(
            conn, user, memory_id, embedding=vector, user_rating=rating, **fields
        )
    return Memory.of(_there(changed))


@routes.delete(
    "/memories/{memory_id}",
    status_code=204,
    response_class=Response,
    summary="Delete or erase a memory",
    responses=documented(401, 404, 422, 429, 503),
)
async def delete_memory(
    memory_id: MemoryId,
    user: Writer,
    conn: Conn,
    shared: Shared,
    erase: Annotated[bool, Query(description="Really, with every trace of its use.")] = False,
) -> None:
    """It is not recalled any more; with `erase` nothing of it remains."""
    if erase:
        await shared.ledger.erase_memory(user, memory_id)
    elif not await stored.delete_memory(conn, user, memory_id):
        raise Problem(404, "There is no such memory.")


@routes.post(
    "/memories/{memory_id}/restore",
    summary="Take a deletion back",
    responses=documented(401, 404, 422, 429, 503),
)
async def undelete_memory(memory_id: MemoryId, user: Writer, conn: Conn) -> Memory:
    """As it was before it was deleted; what was erased is gone."""
    return Memory.of(_there(await restore_memory(conn, user, memory_id)))


@routes.get(
    "/memories/{memory_id}/uses",
    summary="Where a memory was used",
    responses=documented(401, 404, 422, 503),
)
async def list_uses(
    memory_id: MemoryId, user: User, conn: Conn, before: Before = None, limit: Limit = 50
) -> Page[Use]:
    """The answers that it was recalled for or changed by, latest first."""
    _there(await stored.memory(conn, user, memory_id))
    place = cursors.decode(Place, before)
    found = await stored.memory_moments(conn, user, memory_id, limit + 1, before=place and place.key)
    page = found[:limit]
    return Page(
        items=[Use.of(each) for each in page],
        next=cursors.encode(Place(page[-1].created_at, page[-1].id)) if len(found) > limit else None,
    )


async def _embed(shared: Services, texts: Sequence[str]) -> Sequence[stored.Embedding | None]:
    """Their vectors; none when the model is away, since a memory must not be lost over that."""
    try:
        async with asyncio.timeout(EMBEDDING_PATIENCE):
            return await shared.embedder.embed(texts)
    except (ModelUnavailable, TimeoutError) as error:
        log.warning("memories stored without vectors", count=len(texts), reason=type(error).__name__)
        return [None] * len(texts)


def _hit(found: Found) -> Hit:
    fields = {name: getattr(found.memory, name) for name in Memory.__struct_fields__}
    return Hit(**fields, score=found.score, parts=Parts(**found.parts))


def _there(found: stored.Memory | None) -> stored.Memory:
    if found is None:
        raise Problem(404, "There is no such memory.")
    return found
