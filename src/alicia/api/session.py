"""Who the caller is, and a browser's way to stay signed in."""

from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import Field

from alicia.api.auth import COOKIE
from alicia.api.problems import documented
from alicia.api.scope import Shared, TheCaller
from alicia.api.shapes import Answer, Json

routes = APIRouter(tags=["session"])


class Me(Answer):
    """The caller."""

    user: str = Field(examples=["maria"])
    admin: bool = Field(description="Whether they may change what concerns all users.")
    auth: bool = Field(description="Whether this server asks for tokens at all.")


class SignIn(Json):
    """A token made by `alicia token`, or by whoever signs the tokens here."""

    token: Annotated[str, Field(min_length=1, max_length=3_000, pattern=r"^[A-Za-z0-9_.=-]+$")]


@routes.get("/me", summary="Who am I?", responses=documented(401, 503))
async def read_me(known: TheCaller, shared: Shared) -> Me:
    """The user whose token this is."""
    return Me(user=known.user, admin=known.admin, auth=shared.auth.required)


@routes.post("/session", summary="Sign a browser in", responses=documented(401, 413, 422, 503))
async def sign_in(sign: SignIn, request: Request, response: Response, shared: Shared) -> Me:
    """Keeps the token in a cookie that scripts cannot read and other sites cannot use."""
    if not shared.auth.required:
        return await read_me(await shared.auth(request), shared)
    known = await shared.auth.check(sign.token)
    response.set_cookie(
        COOKIE,
        sign.token,
        max_age=30 * 24 * 3600,
        path="/api/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return await read_me(known, shared)


@routes.delete("/session", status_code=204, response_class=Response, summary="Sign a browser out")
async def sign_out(response: Response) -> None:
    """Takes the cookie away."""
    response.delete_cookie(COOKIE, path="/api/", httponly=True, samesite="strict")
