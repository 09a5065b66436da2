"""`kgsched demo`."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import asdict
from typing import Annotated

import typer

from kgsched.surfaces.cli.options import Json
from kgsched.surfaces.cli.output import print_json, print_line, say


def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Leave the graph there to look at.")] = False,
    as_json: Json = False,
) -> None:
    """Show the whole thing offline, with invented papers, in under two minutes.

    Serves a small arXiv on loopback, runs the feed on two days, and tells what was fetched first and why, what was
    demoted, what was skipped, and what landed in the graph. It has a Neo4j of its own and deletes it at the end.
    """
    from kgsched.config import load_settings
    from kgsched.demo.run import run_demo

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # both end it the same way: with nothing left behind
    result = asyncio.run(run_demo(load_settings(), say if as_json else print_line, progress=say, keep=keep))
    if as_json:
        print_json(asdict(result))
