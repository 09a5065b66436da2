"""`kgsched tokens`: who may come in by REST and MCP."""

from __future__ import annotations

from typing import Annotated

import typer

from kgsched.surfaces.cli.options import Json
from kgsched.surfaces.cli.output import print_json, print_line, print_table, say
from kgsched.surfaces.cli.session import me, visit

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
COLUMNS = ("id", "name", "space", "state", "scopes", "expires_at", "last_used_at", "uses")


@app.command()
def create(
    scope: Annotated[
        list[str],
        typer.Option(
            "--scope",
            help="What it may do: read: or write: task, work_item, schedule, worker, admin; read:graph.",
        ),
    ],
    name: Annotated[str | None, typer.Option("--name", help="Whose it is; shown in the audit.")] = None,
    space: Annotated[str, typer.Option("--space", help="The space it is for, or * for all.")] = "default",
    ttl: Annotated[str, typer.Option("--ttl", help="How long it lasts, like 12h or 90d.")] = "90d",
    as_json: Json = False,
) -> None:
    """Make a token, and show it once. From the first one on, each request to REST and MCP needs one."""
    by = me()
    made = visit(lambda app: app.operations.tokens.create(name or by, space=space, scopes=scope, by=by, ttl=ttl))
    if as_json:
        print_json({"id": made.id, "token": made.text})
        return
    print_line(made.text)
    say(f"token {made.id}; it is not shown again. Send it as `Authorization: Bearer …`; revoke it with")
    say(f"  kgsched tokens revoke {made.id}")


@app.command("list")
def list_tokens(as_json: Json = False) -> None:
    """List all tokens; what would let anybody in is not known."""
    rows = visit(lambda app: app.operations.tokens.list_tokens())
    if as_json:
        print_json({"tokens": rows})
        return
    print_table(COLUMNS, rows, "no tokens; whoever is on this machine needs none until the first one is made")


@app.command()
def revoke(
    id_: Annotated[str, typer.Argument(help="Id of the token, as `kgsched tokens list` shows it.", metavar="ID")],
    as_json: Json = False,
) -> None:
    """Make a token count no more, at once."""
    row = visit(lambda app: app.operations.tokens.revoke(id_, me()))
    if as_json:
        print_json(row)
        return
    say(f"token {row['id']} of {row['name']} counts no more")
