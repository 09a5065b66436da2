"""`kgsched audit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgsched.surfaces.cli.options import Json
from kgsched.surfaces.cli.output import print_json, print_table, say
from kgsched.surfaces.cli.session import visit

if TYPE_CHECKING:
    from kgsched.app import Kgsched

COLUMNS = ("at", "who", "door", "space", "action", "target", "outcome", "detail")


def audit(
    space: Annotated[str | None, typer.Option("--space", help="Only this space.")] = None,
    door: Annotated[str | None, typer.Option("--door", help="Only this door: rest, mcp or cli.")] = None,
    who: Annotated[str | None, typer.Option("--who", help="Only this name.")] = None,
    action: Annotated[str | None, typer.Option("--action", help="Only this action, like tasks.cancel.")] = None,
    since: Annotated[str | None, typer.Option("--since", help="An instant, or a duration back from now.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Rows of a page, up to 500.")] = 50,
    cursor: Annotated[str | None, typer.Option("--cursor", help="Where the page before ended.")] = None,
    as_json: Json = False,
) -> None:
    """Show who changed what, by which door, newest first."""

    async def act(app: Kgsched) -> Any:
        return await app.operations.audit.list_entries(
            limit=limit, after=cursor, space=space, door=door, who=who, action=action, since=since
        )

    rows, more = visit(act)
    if as_json:
        print_json({"entries": rows, "next_cursor": more})
        return
    print_table(COLUMNS, rows, "no entry; what is changed through a door leaves one")
    if more:
        say(f"more: --cursor {more}")
