"""`kgsched lanes`."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Annotated

import typer

from kgsched.surfaces.cli import complete
from kgsched.surfaces.cli.options import Json
from kgsched.surfaces.cli.output import print_json, print_table, say
from kgsched.surfaces.cli.session import me, visit

if TYPE_CHECKING:
    from kgsched.app import Kgsched
    from kgsched.operations.records import Record

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="Name of the lane, or of the type.", autocompletion=complete.lanes)]
OfType = Annotated[bool, typer.Option("--type", help="It is a type, not a lane.")]
COLUMNS = (
    "name",
    "cap",
    "floor",
    "max_share",
    "pending",
    "running",
    "scheduled",
    "blocked",
    "paused_at",
    "paused_by",
    "paused_why",
)


@app.callback()
def lanes(context: typer.Context, as_json: Json = False) -> None:
    """List the lanes with their rules and live tasks."""
    if context.invoked_subcommand is None:
        list_lanes(as_json)


@app.command("list")
def list_lanes(as_json: Json = False) -> None:
    """List the lanes with their rules and live tasks."""

    async def act(app: Kgsched) -> tuple[list[Record], list[Record], list[Record]]:
        cluster = app.operations.cluster
        return await cluster.lanes(), await cluster.types(), await cluster.unhandled()

    rows, types, unhandled = visit(act)
    if as_json:
        print_json({"lanes": rows, "types": types, "unhandled": unhandled})
        return
    print_table(COLUMNS, [{**row, **row["tasks"]} for row in rows])
    for one in types:
        if one["paused"]:
            why = one["paused_why"] or "-"
            say(f"type {one['name']} is paused by {one['paused_by']} since {one['paused_at']}: {why}")
    for one in unhandled:
        say(f"type {one['type']}: {one['tasks']} tasks, and no worker that is alive handles it; they stay as they are")


@app.command()
def pause(
    name: Name,
    of_type: OfType = False,
    why: Annotated[str | None, typer.Option("--why", help="The reason, for those who wonder.")] = None,
) -> None:
    """Hold back new claims of a lane or a type; what runs goes on."""
    visit(lambda app: _set(app, name, of_type, True, why))
    say(f"{name} is paused; `kgsched lanes resume {name}{' --type' if of_type else ''}` lets it go on")


@app.command()
def resume(name: Name, of_type: OfType = False) -> None:
    """Let a paused lane or type go on."""
    visit(lambda app: _set(app, name, of_type, False, None))
    say(f"{name} goes on")


def _set(app: Kgsched, name: str, of_type: bool, paused: bool, why: str | None) -> Awaitable[None]:
    cluster = app.operations.cluster
    change = cluster.pause_type if of_type else cluster.pause_lane
    return change(name, paused, me(), why)
