"""`kgsched workers`."""

from __future__ import annotations

import typer

from kgsched.surfaces.cli.options import Json
from kgsched.surfaces.cli.output import print_json, print_table
from kgsched.surfaces.cli.session import visit

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def workers(context: typer.Context, as_json: Json = False) -> None:
    """List the workers that are alive."""
    if context.invoked_subcommand is None:
        list_workers(as_json)


@app.command("list")
def list_workers(as_json: Json = False) -> None:
    """List the workers that are alive."""
    rows = visit(lambda app: app.operations.cluster.workers())
    if as_json:
        print_json({"workers": rows})
        return
    shown = [{**row, "types": len(row["types"])} for row in rows]
    columns = ("id", "host", "pid", "slots", "running", "types", "started_at", "silent_for")
    print_table(columns, shown, "no worker is alive; start one with `kgsched daemon`")
