"""One command's visit to the graph: connect, do one thing, leave."""

from __future__ import annotations

import asyncio
import getpass
import socket
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from kgsched.surfaces.cli.output import say

if TYPE_CHECKING:
    from kgsched.app import Kgsched
    from kgsched.config import Settings

T = TypeVar("T")


def settings_of_command() -> Settings:
    """The environment's settings; commands that come and go only log warnings unless told otherwise."""
    from kgsched.config import load_settings

    settings = load_settings()
    quiet = {} if "log_level" in settings.model_fields_set else {"log_level": "warning", "log_format": "console"}
    return load_settings(**quiet)


def visit(action: Callable[[Kgsched], Awaitable[T]], *, built_in: bool = False) -> T:
    """Run `action` with the app of the environment's settings; `built_in` adds the jobs and types of every daemon."""
    from kgsched.app import Kgsched
    from kgsched.core.access import Door
    from kgsched.operations.tokens import local_caller

    async def inside() -> T:
        async with Kgsched(settings_of_command(), progress=say) as app:
            app.caller = local_caller(Door.CLI, app.settings.space, me())
            if built_in:
                from kgsched.app.built_in import add_built_in

                add_built_in(app.registry, app.settings)
            return await action(app)

    return asyncio.run(inside())


def me() -> str:
    """Who makes a change, for the history."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "somebody"
    return f"{user}@{socket.gethostname()} (command line)"
