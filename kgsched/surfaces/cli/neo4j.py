"""`kgsched neo4j`: the managed database of this user."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from kgsched.config import load_settings
from kgsched.errors import InvalidValue
from kgsched.localdb import ManagedServer, ServerAddress, ServerStatus, shipped_versions
from kgsched.store import probe

app = typer.Typer(
    no_args_is_help=True,
    help="The Neo4j that kgsched installs and runs by itself when KGSCHED_NEO4J_URI is not set.",
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@app.command()
def start(as_json: Json = False) -> None:
    """Start the server and keep it running until `kgsched neo4j stop`, whoever comes and goes."""
    address = _server().start(pin=True)
    if as_json:
        _print_json(_plain(address))
        return
    typer.echo(address.uri)
    _say(f"user {address.user}, password in {address.home / 'password'}; stop it with `kgsched neo4j stop`")


@app.command()
def stop(
    force: Annotated[
        bool, typer.Option("--force", help="Also when kgsched processes use it; they restart it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Stop the server. Its data stays."""
    stopped = _server().stop(force=force)
    if as_json:
        _print_json({"stopped": stopped})
    else:
        typer.echo("stopped" if stopped else "it did not run")


@app.command()
def status(as_json: Json = False) -> None:
    """Show whether it runs, where its data lies, and who uses it."""
    found = _server().status()
    if as_json:
        _print_json(_plain(found))
        return
    for name, value in _rows(found):
        typer.echo(f"{name:<10} {value}")


@app.command()
def logs(
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many of the last lines.")] = 50,
    as_json: Json = False,
) -> None:
    """Print the last lines that the server wrote."""
    found = _server().log_tail(lines)
    if as_json:
        _print_json({"lines": found})
    else:
        for line in found:
            typer.echo(line)


@app.command()
def uri(as_json: Json = False) -> None:
    """Print the address of the running server."""
    found = _server().uri()
    if as_json:
        _print_json({"uri": found})
    else:
        typer.echo(found)


@app.command()
def backup(
    path: Annotated[Path, typer.Argument(help="A new file, or a folder to put one in.")], as_json: Json = False
) -> None:
    """Write all data to a file.

    The server is stopped for the copy, and started again if it ran; a running daemon waits and goes on. The file
    also holds the database's password: keep it to yourself.
    """
    if path.is_file():
        raise InvalidValue(f"{path} exists; name a new file, or a folder")
    if not path.absolute().parent.is_dir():
        raise InvalidValue(f"there is no folder {path.absolute().parent} for the backup; make it first")
    _print_path("backup", _server().backup(path), as_json)


@app.command()
def restore(
    path: Annotated[Path, typer.Argument(help="A file that `backup` wrote.")], yes: Yes = False, as_json: Json = False
) -> None:
    """Put a backup in the place of the data; what was there before is moved aside, not deleted."""
    if not path.is_file():
        raise InvalidValue(f"there is no backup file {path}")
    _confirm(f"Replace the data in {load_settings().home} by {path}?", yes)
    kept = _server().restore(path)
    _say(f"restored: the data is now that of {path}")
    if kept is not None:
        _say(f"the data from before is kept in {kept}; delete that folder when all is well")
    _print_path("replaced", kept, as_json)


@app.command()
def upgrade(
    version: Annotated[str, typer.Argument(help=f"One of {', '.join(shipped_versions())}.")], as_json: Json = False
) -> None:
    """Take the data over to a newer Neo4j; the older data is kept, and used again if the newer one fails."""
    kept = _server().upgrade(version)
    _say(f"the data from before is kept in {kept}; delete that folder when all is well")
    _print_path("kept", kept, as_json)


@app.command()
def destroy(yes: Yes = False, as_json: Json = False) -> None:
    """Stop the server and delete all its data, for good."""
    settings = load_settings()
    _confirm(f"Delete all tasks, schedules and knowledge in {settings.home}?", yes)
    _server().destroy()
    _say(f"the downloaded program stays in {settings.cache / 'neo4j'}")
    _print_path("deleted", settings.home, as_json)


def _server() -> ManagedServer:
    settings = load_settings()
    if settings.neo4j_uri:
        _say("note: KGSCHED_NEO4J_URI is set, so kgsched's other commands do not use this server")
    return ManagedServer(settings, probe, _say)


def _confirm(question: str, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidValue("this needs --yes when nobody can be asked")
    typer.confirm(question, abort=True, err=True)


def _rows(found: ServerStatus) -> list[tuple[str, object]]:
    word = ("ready" if found.ready else "starting") if found.running else "stopped"
    users = ", ".join(map(str, found.held_by)) or "nobody"
    rows: list[tuple[str, object]] = [
        ("state", word + (", runs until `kgsched neo4j stop`" if found.pinned else "")),
        ("version", found.version),
    ]
    if found.running:
        rows += [("uri", found.uri), ("process", found.pid), ("memory", _megabytes(found.memory or 0))]
    return [
        *rows,
        ("used by", users if found.held_by == () else f"process {users}"),
        ("data", f"{found.data} ({_megabytes(found.data_size)})"),
        ("log", found.log),
        ("password", f"in {found.password_file}"),
        ("program", found.cache / "neo4j" / found.version),
    ]


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB"


def _plain(value: ServerAddress | ServerStatus) -> dict[str, Any]:
    """As JSON takes it; the password stays in its file."""
    fields = {key: str(item) if isinstance(item, Path) else item for key, item in asdict(value).items()}
    fields.pop("password", None)
    return fields


def _print_path(name: str, path: Path | None, as_json: bool) -> None:
    if as_json:
        _print_json({name: str(path) if path else None})
    elif path is not None:
        typer.echo(path)


def _print_json(value: dict[str, Any]) -> None:
    typer.echo(json.dumps(value))


def _say(line: str) -> None:
    typer.echo(line, err=True)
