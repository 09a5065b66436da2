"""What every request passes before a route sees it: host, origin, caller, rate, size and form of its body."""

from __future__ import annotations

import asyncio
import json
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgsched.core.access import Caller, Door
from kgsched.core.json_text import parse_json
from kgsched.errors import InvalidValue, KgschedError, Unauthorized
from kgsched.operations.tokens import Doorkeeper
from kgsched.surfaces.doors.fields import not_deep
from kgsched.surfaces.rest.limits import RateLimit
from kgsched.surfaces.rest.origin import LOOPBACK_NAMES, Origin, examine
from kgsched.surfaces.rest.problems import of_error, problem

log = structlog.get_logger(__name__)

MAX_BODY = 4 * 1024 * 1024
BODY_S = 20.0
HEALTH = frozenset({"/healthz", "/readyz"})
PUBLIC = HEALTH | {"/openapi.json"}
STRICT = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json\s*(?:;.*)?", re.IGNORECASE)
_FORM = re.compile(r"application/x-www-form-urlencoded\s*(?:;.*)?", re.IGNORECASE)
_SPACE = re.compile(r"[a-z0-9_-]{1,64}")


class Refused(Exception):
    """The request ends here with this response."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status_code)
        self.response = response


@dataclass(frozen=True, slots=True)
class Rules:
    """How strict the door is. hosts: names besides those of loopback. Rates are requests a second."""

    hosts: frozenset[str] = frozenset()
    rate: float = 300.0
    failures: float = 20.0
    max_body: int = MAX_BODY


@dataclass(slots=True)
class _Seen:
    """What is known of one request, for its log line."""

    started: float = field(default_factory=time.monotonic)
    status: int = 500
    caller: str = "-"


class Gate:
    """Lets a request through to `app` with its caller in the state, or answers with a problem."""

    def __init__(
        self,
        app: ASGIApp,
        doorkeeper: Callable[[], Doorkeeper],
        methods_at: Callable[[str], Collection[str]],
        rules: Rules,
    ) -> None:
        self._app, self._doorkeeper, self._methods_at, self._rules = app, doorkeeper, methods_at, rules
        self._rate = RateLimit(rules.rate, 2 * rules.rate)
        self._failures = RateLimit(rules.failures, 10 * rules.failures)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = headers.get("x-request-id", "")
        if not _REQUEST_ID.fullmatch(request_id):
            request_id = uuid.uuid4().hex
        seen = _Seen()
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            answering = _answering(send, seen, request_id)
            try:
                await self._handle(scope, receive, answering, headers, seen)
            except Refused as refused:
                await refused.response(scope, receive, answering)
            except KgschedError as error:
                await of_error(error)(scope, receive, answering)
            finally:
                self._log(scope, seen)

    async def _handle(self, scope: Scope, receive: Receive, send: Send, headers: Headers, seen: _Seen) -> None:
        origin = examine(headers, self._rules.hosts)
        if origin.problem is not None:
            raise Refused(problem(origin.problem[0], "origin", origin.problem[1]))
        methods = self._methods_at(scope["path"])
        if methods and scope["method"] not in methods:
            allow = {"Allow": ", ".join(sorted(methods))}
            raise Refused(problem(405, "method", f"{scope['method'][:20]} is not for this path", allow))
        state: MutableMapping[str, Any] = scope.setdefault("state", {})
        if scope["path"] in PUBLIC:
            self._take(self._rate, _address(scope))
        else:
            caller = await self._admit(scope, headers, origin)
            seen.caller = caller.name
            self._take(self._rate, caller.token or caller.name)
            state["caller"] = caller
            state["still_allowed"] = partial(self._admit, scope, headers, origin)
        body = await self._read(receive, headers)
        if body and scope["path"].startswith("/mcp"):
            self._check_twins(body)
        elif body:
            self._check_json(headers, origin, body)
            MutableHeaders(scope=scope)["content-type"] = "application/json"
        await self._app(scope, _replay(body, receive), send)

    async def _admit(self, scope: Scope, headers: Headers, origin: Origin) -> Caller:
        address = _address(scope)
        presented = self._presented(headers)
        space = headers.get("kgsched-space")
        if space is not None and not _SPACE.fullmatch(space):
            raise Refused(
                problem(422, "invalid-value", "the header Kgsched-Space must be 1 to 64 of a-z, 0-9, _ and -")
            )
        door = Door.MCP if scope["path"].startswith("/mcp") else Door.REST
        near = address in LOOPBACK_NAMES
        trusted = near and origin.loopback and not origin.browser and not origin.proxied
        try:
            return await self._doorkeeper().admit(presented, door, trusted=trusted, space=space)
        except Unauthorized:
            self._take(self._failures, address)
            raise

    def _presented(self, headers: Headers) -> str | None:
        given = headers.getlist("authorization")
        if not given:
            return None
        scheme, _, text = given[0].partition(" ")
        if len(given) > 1 or scheme.lower() != "bearer":
            raise Unauthorized("send the token as `Authorization: Bearer <token>`, once", presented=True)
        return text.strip()

    def _take(self, limit: RateLimit, caller: str) -> None:
        wait = limit.take(caller)
        if wait:
            headers = {"Retry-After": str(max(1, round(wait + 0.5)))}
            raise Refused(problem(429, "too-many", "too many requests; wait as long as Retry-After says", headers))

    async def _read(self, receive: Receive, headers: Headers) -> bytes:
        limit, declared = self._rules.max_body, headers.get("content-length", "0")
        too_large = problem(413, "too-large", f"the body is over {limit} bytes; send less at a time")
        if declared.isdecimal() and int(declared) > limit:
            raise Refused(too_large)
        parts, size = [], 0
        try:
            async with asyncio.timeout(BODY_S):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refused(problem(400, "cut-off", "the connection ended before the body did"))
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > limit:
                        raise Refused(too_large)
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            raise Refused(problem(408, "too-slow", f"the body did not arrive within {BODY_S:g} s")) from None
        return b"".join(parts)

    def _check_json(self, headers: Headers, origin: Origin, body: bytes) -> None:
        """JSON, named as such; what curl says by default counts too, but not from a browser."""
        kind = headers.get("content-type", "")
        if not _JSON.fullmatch(kind) and (origin.browser or not (_FORM.fullmatch(kind) or kind == "")):
            raise Refused(problem(415, "not-json", "send JSON, with Content-Type: application/json"))
        try:
            not_deep(parse_json("body", body.decode("utf-8"), self._rules.max_body))
        except UnicodeDecodeError:
            raise Refused(problem(400, "not-json", "the body is not UTF-8 text")) from None
        except InvalidValue as error:
            raise Refused(problem(400, "not-json", str(error))) from None
        except ValueError as error:
            raise Refused(problem(400, "not-json", f"the body is not usable: {error}")) from None

    def _check_twins(self, body: bytes) -> None:
        """What is no JSON the protocol itself answers; what is read in two ways nobody does."""
        try:
            json.loads(body)
        except (ValueError, RecursionError):
            return
        try:
            parse_json("body", body.decode("utf-8"), self._rules.max_body)
        except ValueError as error:
            raise Refused(problem(400, "not-json", str(error))) from None

    def _log(self, scope: Scope, seen: _Seen) -> None:
        write = log.debug if scope["path"] in HEALTH else log.info
        write(
            "http",
            method=scope["method"],
            path=scope["path"][:200],
            status=seen.status,
            caller=seen.caller,
            ms=round((time.monotonic() - seen.started) * 1000, 1),
        )


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else "-"


def _answering(send: Send, seen: _Seen, request_id: str) -> Send:
    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            seen.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in STRICT.items():
                headers[name] = value
            headers["X-Request-Id"] = request_id
        await send(message)

    return answer


def _replay(body: bytes, receive: Receive) -> Callable[[], Awaitable[Message]]:
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
