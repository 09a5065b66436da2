"""`kgsched daemon` and `kgsched worker`: the processes that stay."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgsched.errors import InvalidValue
from kgsched.surfaces.cli.output import say

if TYPE_CHECKING:
    from kgsched.app import Kgsched
    from kgsched.config import Settings
    from kgsched.surfaces.rest.server import HttpServer

Imports = Annotated[
    list[str] | None,
    typer.Option("--import", "-i", help="Module with handlers of your own; may be given again.", metavar="MODULE"),
]
Slots = Annotated[int | None, typer.Option("--slots", help="Tasks that run at once.", min=1, max=1000)]


def daemon(
    imports: Imports = None,
    slots: Slots = None,
    schedules: Annotated[
        Path | None, typer.Option("--schedules", help="File of desired schedules.", metavar="FILE")
    ] = None,
    host: Annotated[
        str | None, typer.Option("--host", help="Address of the HTTP server; others than loopback need TLS.")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", help="Its port; 8080 if it is free. 0 takes a free one.", min=0, max=65535)
    ] = None,
    no_http: Annotated[bool, typer.Option("--no-http", help="No HTTP server: neither REST nor MCP.")] = False,
    require_token: Annotated[
        bool, typer.Option("--require-token", help="Let nobody in without a token, not even from this machine.")
    ] = False,
) -> None:
    """Run tasks, fire schedules and keep the queue going, until Ctrl-C.

    The first Ctrl-C (or SIGTERM) lets short bodies finish and gives the rest back; a second one stops at once.
    """
    http = None if no_http else _Http(host, port, require_token)
    _serve(imports or (), slots, schedules, services=True, http=http)


def worker(imports: Imports = None, slots: Slots = None) -> None:
    """Run tasks only; a daemon elsewhere fires schedules and sweeps."""
    _serve(imports or (), slots, None, services=False)


@dataclass(frozen=True, slots=True)
class _Http:
    """What was said about the HTTP server."""

    host: str | None
    port: int | None
    require_token: bool


def _serve(
    imports: list[str] | tuple[()],
    slots: int | None,
    schedules: Path | None,
    *,
    services: bool,
    http: _Http | None = None,
) -> None:
    from kgsched.app import Kgsched
    from kgsched.app.daemon import serve
    from kgsched.config import load_settings

    said = {} if http is None else {"http_host": http.host, "http_port": http.port}
    settings = load_settings(slots=slots, **said)
    app = Kgsched(settings, progress=say)
    for name in imports:
        _take_handlers(app, name)

    door = None if http is None else _open_door(settings, http)

    async def run() -> int:
        return await serve(app, services=services, schedules=schedules, door=door, say=say)

    code = asyncio.run(run())
    if code:
        raise typer.Exit(code)


def _open_door(settings: Settings, http: _Http) -> HttpServer:
    from kgsched.surfaces.rest.address import address_of
    from kgsched.surfaces.rest.server import HttpServer

    address = address_of(settings, chosen=http.port is not None or "http_port" in settings.model_fields_set)
    return HttpServer(address, require_token=http.require_token, say=say)


def _take_handlers(app: Kgsched, name: str) -> None:
    """Import a module and take over the types and jobs of each application in it."""
    from kgsched.app import Kgsched

    folder = os.getcwd()  # noqa: PTH109 - sys.path holds text
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = import_module(name)
    except ImportError as error:
        raise InvalidValue(f"--import {name}: {error}; it is looked for here and where Python looks") from error
    found = [value for value in vars(module).values() if isinstance(value, Kgsched)]
    if not found:
        raise InvalidValue(
            f"--import {name}: it holds no application; make one with `app = Kgsched()` and use @app.task"
        )
    for other in found:
        for task_type in other.registry:
            app.registry.add(task_type)
        for job in other.registry.jobs():
            app.registry.add_job(job)
