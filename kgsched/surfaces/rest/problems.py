"""Errors as problem documents (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field
from starlette.responses import Response

from kgsched.errors import (
    BudgetExceeded,
    Conflict,
    Forbidden,
    KgschedError,
    NotFound,
    SecurityError,
    Stale,
    StoreError,
    Unauthorized,
    UnknownName,
    UsageError,
)

MEDIA = "application/problem+json"
REALM = 'Bearer realm="kgsched"'
_STATUSES: tuple[tuple[type[KgschedError], int, str], ...] = (
    (UnknownName, 404, "unknown-name"),
    (UsageError, 422, "invalid-value"),
    (NotFound, 404, "not-found"),
    (Stale, 412, "stale"),
    (Conflict, 409, "conflict"),
    (Unauthorized, 401, "unauthorized"),
    (Forbidden, 403, "forbidden"),
    (SecurityError, 403, "refused"),
    (BudgetExceeded, 409, "too-much"),
    (StoreError, 503, "database"),
    (KgschedError, 500, "error"),
)
TITLES = {
    400: "Bad request",
    401: "Who are you?",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    409: "Conflict",
    412: "Changed meanwhile",
    413: "Too large",
    415: "Not JSON",
    421: "Wrong host",
    422: "Invalid",
    429: "Too many requests",
    500: "Internal error",
    503: "Not available now",
}


class Mistake(BaseModel):
    """One thing that is wrong with what was sent. pointer: JSON pointer into it, with the part it lies in first."""

    pointer: str
    detail: str


class Problem(BaseModel):
    """What went wrong, and what to do about it."""

    type: str = Field(examples=["urn:kgsched:problem:not-found"])
    title: str
    status: int
    detail: str
    request_id: str | None = None
    errors: list[Mistake] | None = None
    near: list[str] | None = Field(None, description="Names that exist and look alike.")


def problem(status: int, kind: str, detail: str, headers: Mapping[str, str] | None = None, **more: Any) -> Response:
    """A response that holds one problem."""
    document = {
        "type": f"urn:kgsched:problem:{kind}",
        "title": TITLES.get(status, "Error"),
        "status": status,
        "detail": detail.encode("utf-8", "replace").decode(),
        **{name: value for name, value in more.items() if value is not None},
    }
    body = json.dumps(document, ensure_ascii=True).encode()
    return Response(body, status, {**(headers or {})}, MEDIA)


def of_error(error: KgschedError) -> Response:
    """The problem that an error of kgsched is."""
    status, kind = next((status, kind) for one, status, kind in _STATUSES if isinstance(error, one))
    headers: dict[str, str] = {}
    near = list(error.near) or None if isinstance(error, UnknownName) else None
    if isinstance(error, Unauthorized):
        headers["WWW-Authenticate"] = f'{REALM}, error="invalid_token"' if error.presented else REALM
    elif isinstance(error, Forbidden) and error.scope is not None:
        headers["WWW-Authenticate"] = f'{REALM}, error="insufficient_scope", scope="{error.scope}"'
    elif status == 503:
        headers["Retry-After"] = "2"
    return problem(status, kind, str(error), headers, near=near)


def of_mistakes(errors: Sequence[Mapping[str, Any]], body: object = None) -> Response:
    """The problem of a request that is not as the schema says. What was sent is not repeated."""
    found: dict[str, list[str]] = {}
    for one in errors:
        place = _sent(one, body) if one["loc"][:1] == ("body",) else one["loc"]
        found.setdefault("/" + "/".join(_escape(part) for part in place), []).append(str(one["msg"]))
    mistakes = [
        {"pointer": place, "detail": ", or: ".join(dict.fromkeys(said))} for place, said in list(found.items())[:20]
    ]
    first = mistakes[0] if mistakes else {"pointer": "/", "detail": "it is invalid"}
    return problem(422, "invalid-request", f"{first['pointer']}: {first['detail']}", errors=mistakes)


def _sent(error: Mapping[str, Any], body: object) -> Sequence[object]:
    """The place of a mistake in what was sent: of a choice between kinds, the name of the kind is no part of it."""
    place: list[object] = [error["loc"][0]]
    for part in error["loc"][1:]:
        last = part == error["loc"][-1] and error.get("type") == "missing"
        if (isinstance(body, Mapping) and part in body) or (isinstance(body, list) and isinstance(part, int)):
            body = body[part]
        elif not last:
            continue
        place.append(part)
    return place


def _escape(part: object) -> str:
    text = str(part)[:80].encode("utf-8", "replace").decode()
    return text.replace("~", "~0").replace("/", "~1")


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """`responses` of a route: these problems, and those that any request can meet."""
    everywhere = (400, 401, 403, 408, 413, 415, 421, 422, 429, 500, 503)
    content = {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": TITLES[status], "content": content} for status in sorted({*everywhere, *statuses})}
