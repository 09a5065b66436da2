"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from kgsched.errors import InvalidValue
from kgsched.surfaces.cli import complete

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document with stable keys.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what it is about; change nothing.")]
Ids = Annotated[
    list[str] | None, typer.Argument(help="Task ids or uids.", autocompletion=complete.task_ids, show_default=False)
]
Statuses = Annotated[
    list[str] | None,
    typer.Option("--status", "-s", help="Only this state, or several with commas.", autocompletion=complete.statuses),
]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", "-t", help="Only this type; may be given again.", autocompletion=complete.task_types),
]
OfSchedule = Annotated[
    str | None, typer.Option("--schedule", help="Only ticks of this schedule.", autocompletion=complete.schedule_names)
]
Source = Annotated[str | None, typer.Option("--source", help="Only tasks about this source.")]
LaneOption = Annotated[str | None, typer.Option("--lane", help="Only this lane.", autocompletion=complete.lanes)]
Since = Annotated[
    str | None, typer.Option("--since", help="Enqueued since: an instant, or a duration back from now, like 2h.")
]
Priority = Annotated[
    str | None,
    typer.Option(
        "--priority",
        "-p",
        "--prio",
        help="critical, high, normal, background, or 0 to 3.",
        autocompletion=complete.priorities,
    ),
]


def _seconds(value: str | float) -> float:
    from kgsched.core.times import parse_duration

    try:
        return parse_duration(value) / 1000
    except InvalidValue as error:
        raise typer.BadParameter(str(error)) from None


RUN_S = 900.0  # for a tick that is run by hand


def _timeout(shown: str | bool) -> Any:
    return typer.Option(
        "--timeout",
        parser=_seconds,
        metavar="DURATION",
        help="Stop waiting after this long: seconds, or a duration like 90s, 10m.",
        show_default=shown,
    )


Timeout = Annotated[float | None, _timeout(False)]
RunTimeout = Annotated[float, _timeout("15m")]
