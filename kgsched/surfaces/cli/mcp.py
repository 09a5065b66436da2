"""`kgsched mcp`: the tools for an agent, on standard input and output."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

import typer


def mcp(
    read_only: Annotated[bool, typer.Option("--read-only", help="Only tools that change nothing.")] = False,
) -> None:
    """Serve the Model Context Protocol on standard input and output, until input ends.

    Acts as the user of this machine, or with the rights of the token in KGSCHED_TOKEN. Connects at the first call.
    """
    from kgsched.surfaces.cli.session import me, settings_of_command
    from kgsched.surfaces.mcp.stdio import serve

    asyncio.run(serve(settings_of_command(), os.environ.get("KGSCHED_TOKEN"), me(), read_only=read_only))
