"""`kgsched jobs`."""

from __future__ import annotations

from typing import Annotated

import typer

from kgsched.surfaces.cli.options import Json
from kgsched.surfaces.cli.output import cell, print_json, print_pairs, print_table
from kgsched.surfaces.cli.session import visit

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
def list_jobs(as_json: Json = False) -> None:
    """List the jobs that run by name."""
    from kgsched.app.built_in import add_built_in
    from kgsched.config import load_settings
    from kgsched.registry import Registry

    registry = Registry()
    add_built_in(registry, load_settings())
    rows = [{"name": job.name, "description": job.description} for job in registry.jobs()]
    if as_json:
        print_json({"jobs": rows})
    else:
        print_table(("name", "description"), rows)


@app.command()
def run(
    name: Annotated[str, typer.Argument(help="Name of the job; `kgsched jobs list` has them.")], as_json: Json = False
) -> None:
    """Run a job to its end, here and now, and print what it counted."""
    report = visit(lambda app: app.operations.jobs.run(name), built_in=True)
    if as_json:
        print_json(report)
    else:
        print_pairs((key, cell(value)) for key, value in report.items())
