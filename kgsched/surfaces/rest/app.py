"""The HTTP application: routes, problems, MCP, and the gate in front of them all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from kgsched.app import Kgsched
from kgsched.errors import KgschedError, StorageConnectionError, StoreError
from kgsched.operations.token_key import token_key
from kgsched.operations.tokens import Doorkeeper
from kgsched.surfaces.mcp.http import McpDoor
from kgsched.surfaces.rest.gate import Gate, Rules
from kgsched.surfaces.rest.problems import Problem, of_error, of_mistakes, problem
from kgsched.surfaces.rest.repeats import Repeats
from kgsched.surfaces.rest.routes import ROUTERS
from kgsched.surfaces.rest.routes.events import Streams
from kgsched.surfaces.rest.routes.graph import CHOICES
from kgsched.version import __version__

log = structlog.get_logger(__name__)
NOTE_S = 5.0
ABOUT = """Tasks and schedules inside a Neo4j graph. Errors are problem documents (RFC 9457); lists have cursors; times
are ISO 8601 in UTC. Changes by POST and PATCH take an Idempotency-Key."""


@dataclass(slots=True)
class OpenGraph:
    """The application that requests are answered with; replaced when the database moved."""

    app: Kgsched
    require_token: bool = False
    _keeper: tuple[Any, Doorkeeper] | None = field(default=None)

    @property
    def doorkeeper(self) -> Doorkeeper:
        if not self.app.connected:
            raise StorageConnectionError("the database does not answer; try again")
        store = self.app.store
        if self._keeper is None or self._keeper[0] is not store:
            settings = self.app.settings
            one = Doorkeeper(store, token_key(settings), default_space=settings.space, require_token=self.require_token)
            self._keeper = (store, one)
        return self._keeper[1]


class HttpApp:
    """The application as a server runs it."""

    def __init__(self, app: Kgsched, *, require_token: bool = False, rules: Rules | None = None) -> None:
        settings = app.settings
        self.graph = OpenGraph(app, require_token)
        self.api = FastAPI(title="kgsched", version=__version__, description=ABOUT, docs_url=None, redoc_url=None)
        self.api.router.lifespan_context = self._lifespan
        self.api.router.redirect_slashes = False
        self.api.state.graph, self.api.state.streams = self.graph, Streams()
        self.mcp = McpDoor(self.graph)
        self._routes()
        rules = rules or Rules(hosts=settings.host_names, rate=settings.http_rate)
        self._app: ASGIApp = Gate(
            Repeats(self.api, lambda: self.graph.app.store.answers),
            lambda: self.graph.doorkeeper,
            self._methods_at,
            rules,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    def stop_streams(self) -> None:
        """End streams that would keep the server from stopping; on the server's event loop."""
        stopping = getattr(self.api.state, "stopping", None)
        if stopping is not None:
            stopping.set()

    def _routes(self) -> None:
        for router in ROUTERS:
            self.api.include_router(router)
        for path in ("/mcp", "/mcp/full"):
            self.api.router.add_route(path, self.mcp, include_in_schema=False)  # type: ignore[arg-type]
        self.api.add_exception_handler(KgschedError, _kgsched_error)
        self.api.add_exception_handler(RequestValidationError, _mistakes)
        self.api.add_exception_handler(HTTPException, _http_error)
        self.api.add_exception_handler(Exception, _unexpected)
        self.api.openapi = self._openapi  # type: ignore[method-assign]

    def _methods_at(self, path: str) -> set[str]:
        """The methods of the route that is first at a path, and of its twins; none where there is nothing."""
        every = (*self.api.router.routes, *(route for router in ROUTERS for route in router.routes))
        here = [route for route in every if isinstance(route, Route) and route.path_regex.match(path)]
        return {method for route in here if route.path == here[0].path for method in route.methods or ()}

    def _openapi(self) -> dict[str, Any]:
        if self.api.openapi_schema is None:
            made = get_openapi(title=self.api.title, version=__version__, description=ABOUT, routes=self.api.routes)
            parts = made.setdefault("components", {})
            parts.setdefault("schemas", {})["Problem"] = Problem.model_json_schema(
                ref_template="#/components/schemas/{model}"
            )
            for name, one in parts["schemas"]["Problem"].pop("$defs", {}).items():
                parts["schemas"][name] = one
            parts["securitySchemes"] = {
                "token": {"type": "http", "scheme": "bearer", "description": "`kgsched tokens create` makes one."}
            }
            self.api.openapi_schema = made
        return self.api.openapi_schema

    @asynccontextmanager
    async def _lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        self.api.state.stopping = asyncio.Event()
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.mcp.running())
            upkeep = asyncio.create_task(self._upkeep())
            try:
                yield
            finally:
                upkeep.cancel()
                with suppress(asyncio.CancelledError):
                    await upkeep
                with suppress(StoreError):
                    await self.graph.doorkeeper.note_uses()

    async def _upkeep(self) -> None:
        """Write down uses of tokens."""
        while True:
            try:
                await self.graph.doorkeeper.note_uses()
            except KgschedError as error:
                log.warning("http_upkeep_failed", error=str(error))
            await asyncio.sleep(NOTE_S)


async def _kgsched_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, KgschedError)
    return of_error(error)


async def _mistakes(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    choices = CHOICES.get(request.url.path, frozenset())
    told = [{**one, "loc": (*one["loc"][:1], *_inside(one["loc"][1:], choices))} for one in error.errors()]
    return of_mistakes(told, error.body)


def _inside(place: Sequence[object], choices: frozenset[str]) -> Sequence[object]:
    """A place in the body as it was sent: which action was judged is no part of it."""
    return place[1:] if place and place[0] in choices else place


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return problem(404, "no-path", "there is nothing at this path; /openapi.json tells what there is")
    return problem(error.status_code, "error", str(error.detail))


async def _unexpected(_: Request, error: Exception) -> Response:
    log.error("http_failed", error=f"{type(error).__name__}: {error}", exc_info=error)
    return problem(500, "error", "this is a mistake of kgsched; the log has it under the request id")
