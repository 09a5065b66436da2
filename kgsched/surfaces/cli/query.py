"""`kgsched graph-query`."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from kgsched.errors import InvalidValue
from kgsched.surfaces.cli.options import Json
from kgsched.surfaces.cli.output import print_json, print_table, say
from kgsched.surfaces.cli.readable import short
from kgsched.surfaces.cli.session import visit

_CUTS = {
    "rows": "there are more rows; --limit gives up to 1000, or let the query count or aggregate",
    "bytes": "the rows are large; return fewer properties",
    "time": "the time was over; narrow the query",
}


def graph_query(
    statement: Annotated[str, typer.Argument(help="One Cypher statement that only reads; - reads standard input.")],
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-P", help="name=value; the value is JSON, or text if it is none."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Rows at most, up to 1000.")] = 50,
    as_json: Json = False,
) -> None:
    """Run one read-only Cypher statement.

    It is looked at before it runs: what writes, reaches out of the database or cannot be stopped is refused. It has
    four seconds.
    """
    from kgsched.operations.query import answer_record

    text = sys.stdin.read() if statement == "-" else statement
    params = dict(_param(one) for one in param or ())
    answer = visit(lambda app: app.operations.query(text, params, limit))
    if as_json:
        print_json(answer_record(answer))
    else:
        rows = [{name: short(value) for name, value in row.items()} for row in answer.rows]
        print_table(answer.columns, rows, "no rows")
    if answer.cut:
        say(f"cut after {len(answer.rows)} rows: {_CUTS[answer.cut]}")


def _param(text: str) -> tuple[str, Any]:
    from kgsched.core.json_text import parse_json

    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise InvalidValue(f"--param {text!r} is not name=value")
    try:
        return name, parse_json("parameter", value)
    except InvalidValue:
        return name, value
