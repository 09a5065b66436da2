"""`kgsched`: the command line. Only the command that was asked for is loaded."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import typer

from kgsched.errors import KgschedError
from kgsched.surfaces.cli.output import take_any_text
from kgsched.version import __version__


class Entry(NamedTuple):
    """A command: where it is, and its line in the help."""

    module: str
    attribute: str
    help: str


COMMANDS = {
    "daemon": Entry("daemon", "daemon", "Run tasks, fire schedules and keep the queue going, until Ctrl-C."),
    "worker": Entry("daemon", "worker", "Run tasks only; a daemon elsewhere fires schedules and sweeps."),
    "demo": Entry("demo", "demo", "Show the whole thing offline, with invented papers, in under two minutes."),
    "status": Entry("status", "status", "Counts by state and lane, leader, and ages of the last passes."),
    "doctor": Entry("doctor", "doctor", "Look for what is wrong, and say what to do about it."),
    "config": Entry("config", "app", "Show settings, and where each value comes from."),
    "neo4j": Entry("neo4j", "app", "The Neo4j that kgsched runs by itself: start, stop, status, backup …"),
    "jobs": Entry("jobs", "app", "List jobs, or run one by name, here and now."),
    "schedules": Entry("schedules", "app", "List, show, run, switch and change schedules."),
    "tasks": Entry("tasks", "app", "List, show, enqueue, cancel, retry, prioritize, wait."),
    "workers": Entry("workers", "app", "The workers that are alive."),
    "lanes": Entry("lanes", "app", "Lanes with their rules and tasks; pause and resume."),
    "gates": Entry("gates", "app", "Concurrency keys: list them, set how many run at a time or start in a period."),
    "tokens": Entry("tokens", "app", "Make, list and revoke the tokens of REST and MCP."),
    "audit": Entry("audit", "audit", "Who changed what, by which door."),
    "mcp": Entry("mcp", "mcp", "Serve the tools for agents on standard input and output."),
    "graph-query": Entry("query", "graph_query", "Run one read-only Cypher statement."),
}


def build(words: Sequence[str]) -> typer.Typer:
    """The application, with the command that `words` names loaded and the others as lines of the help."""
    app = typer.Typer(
        name="kgsched",
        help="A durable task scheduler that lives inside a Neo4j graph.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    wanted = next((word for word in words if word in COMMANDS), None)
    for name, entry in COMMANDS.items():
        if name != wanted:
            app.command(name, help=entry.help)(_stub)
            continue
        loaded = getattr(import_module(f"kgsched.surfaces.cli.{entry.module}"), entry.attribute)
        if isinstance(loaded, typer.Typer):
            app.add_typer(loaded, name=name, help=entry.help, rich_help_panel=None)
        else:
            app.command(name, help=loaded.__doc__, short_help=entry.help)(loaded)
    return app


def main(words: Sequence[str] | None = None) -> None:
    """Run the command line and end the process: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    words = sys.argv[1:] if words is None else list(words)
    ending(lambda: build(words or _completed())(words, prog_name="kgsched"))


def ending(run: Callable[[], Any]) -> None:
    """Run, and end the process with the code that its outcome has; an error of kgsched is one line."""
    _open_what_is_closed()
    take_any_text()
    try:
        run()
        sys.stdout.flush()
    except KgschedError as error:
        sys.stderr.write(f"error: {error}\n")
        _leave(error.exit_code)
    except KeyboardInterrupt:
        _leave(130)
    except OSError as error:
        if error.errno != errno.EPIPE:
            sys.stderr.write(f"error: {error}\n")
        _leave(1)


def _open_what_is_closed() -> None:
    """A shell can start a command without stdout or stderr (`>&-`); what it says then goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def _leave(code: int) -> None:
    try:
        sys.stdout.flush()
    except OSError:  # whoever read it is gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _completed() -> list[str]:
    """The words of the line that a shell asks to complete."""
    if "_KGSCHED_COMPLETE" not in os.environ:
        return []
    return (os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")).split()[1:]


def _show_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"kgsched {__version__}\n")
        raise typer.Exit


def _root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and leave."
    ),
) -> None:
    """A durable task scheduler that lives inside a Neo4j graph."""


def _stub() -> None:
    """Stands in the help for a command that is not loaded."""
