"""Who the caller is, and a browser's way to stay signed in."""

from typing import Annotated

from fastapi import Request, Response
from pydantic import Field

from alicia.api.auth import COOKIE, Caller
from alicia.api.calls import Calls, as_json, described
from alicia.api.problems import documented
from alicia.api.scope import Services, Shared, TheCaller
from alicia.api.shapes import Answer, Json, shown

routes = Calls("session")


class Me(Answer, frozen=True, kw_only=True):
    """The caller."""

    user: Annotated[str, shown("maria")]
    admin: Annotated[bool, shown(about="Whether they may change what concerns all users.")]
    auth: Annotated[bool, shown(about="Whether this server asks for tokens at all.")]


class SignIn(Json):
    """A token made by `alicia token`, or by whoever signs the tokens here."""

    token: Annotated[str, Field(min_length=1, max_length=3_000, pattern=r"^[A-Za-z0-9_.=-]+$")]


@routes.get("/me", summary="Who am I?", responses=documented(401, 503))
async def read_me(known: TheCaller, shared: Shared) -> Me:
    """The user whose token this is."""
    return _me(known, shared)


@routes.post(
    "/session",
    summary="Sign a browser in",
    responses={200: described(Me), **documented(401, 413, 422, 503)},
)
async def sign_in(sign: SignIn, request: Request, shared: Shared) -> Response:
    """Keeps the token in a cookie that scripts cannot read and other sites cannot use."""
    if not shared.auth.required:
        return as_json(_me(await shared.auth(request), shared))
    response = as_json(_me(await shared.auth.check(sign.token), shared))
    response.set_cookie(
        COOKIE,
        sign.token,
        max_age=30 * 24 * 3600,
        path="/api/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return response


@routes.delete("/session", status_code=204, response_class=Response, summary="Sign a browser out")
async def sign_out(response: Response) -> None:
    """Takes the cookie away."""
    response.delete_cookie(COOKIE, path="/api/", httponly=True, samesite="strict")


def _me(known: Caller, shared: Services) -> Me:
    return Me(user=known.user, admin=known.admin, auth=shared.auth.required)
