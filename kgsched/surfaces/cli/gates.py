"""`kgsched gates`."""

from __future__ import annotations

from typing import Annotated

import typer

from kgsched.errors import InvalidValue
from kgsched.surfaces.cli import complete
from kgsched.surfaces.cli.options import Json
from kgsched.surfaces.cli.output import print_json, print_table
from kgsched.surfaces.cli.session import visit

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
COLUMNS = ("key", "limit", "rate", "held", "waiting")


@app.command("list")
def list_gates(as_json: Json = False) -> None:
    """List the gates, with what each lets through, holds, and keeps waiting."""
    rows = visit(lambda app: app.operations.gates.gates())
    if as_json:
        print_json({"gates": rows})
        return
    print_table(COLUMNS, rows, "no gates; an enqueue with --gate makes one")


@app.command("set")
def set_gate(
    key: Annotated[str, typer.Argument(help="Concurrency key.", autocompletion=complete.gate_keys)],
    limit: Annotated[int | None, typer.Option("--limit", help="Tasks at a time; none if left out.")] = None,
    rate: Annotated[str | None, typer.Option("--rate", help="Starts per period, like 10/1m; none if left out.")] = None,
    unbounded: Annotated[bool, typer.Option("--unbounded", help="Let everything through.")] = False,
    as_json: Json = False,
) -> None:
    """Set how many tasks of a concurrency key run at a time, and how many start in a period, in the whole cluster."""
    if unbounded == (limit is not None or rate is not None):
        raise InvalidValue("give --limit or --rate or both, or else --unbounded")
    row = visit(lambda app: app.operations.gates.set(key, limit, rate))
    if as_json:
        print_json(row)
        return
    print_table(COLUMNS, [row])
