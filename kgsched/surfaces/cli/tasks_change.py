"""`kgsched tasks cancel|retry|prioritize`: some tasks by id, or all that a filter finds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgsched.errors import InvalidValue
from kgsched.surfaces.cli import complete
from kgsched.surfaces.cli.options import (
    DryRun,
    Ids,
    Json,
    LaneOption,
    OfSchedule,
    Since,
    Source,
    Statuses,
    Types,
    Yes,
)
from kgsched.surfaces.cli.output import confirm, print_json, print_line, print_table, say
from kgsched.surfaces.cli.session import me, visit

if TYPE_CHECKING:
    from kgsched.app import Kgsched
    from kgsched.operations.bulk import BulkReport, Selection
    from kgsched.operations.tasks import Changed

Change = Callable[["Kgsched", Sequence[str], bool], Awaitable["list[Changed]"]]
SAMPLE = 5


@dataclass(frozen=True, slots=True)
class Options:
    """What to change, and how carefully."""

    ids: Sequence[str]
    filters: tuple[Any, ...]
    dry_run: bool
    yes: bool
    as_json: bool

    @property
    def filtered(self) -> bool:
        return any(self.filters)


def cancel(
    ids: Ids = None,
    status: Statuses = None,
    type_: Types = None,
    schedule: OfSchedule = None,
    source: Source = None,
    lane: LaneOption = None,
    since: Since = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Cancel tasks; what runs is asked to stop."""
    options = Options(ids or (), (status, type_, schedule, source, lane, since), dry_run, yes, as_json)
    _change("cancel", options, lambda app, chosen, skip: app.operations.tasks.cancel(chosen, skip_missing=skip))


def retry(
    ids: Ids = None,
    status: Statuses = None,
    type_: Types = None,
    schedule: OfSchedule = None,
    source: Source = None,
    lane: LaneOption = None,
    since: Since = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Bring back tasks that ended badly, and what was cancelled because of them."""
    options = Options(ids or (), (status, type_, schedule, source, lane, since), dry_run, yes, as_json)
    by = me()
    _change("retry", options, lambda app, chosen, skip: app.operations.tasks.retry(chosen, by, skip_missing=skip))


def prioritize(
    ids: Ids = None,
    priority: Annotated[
        str | None,
        typer.Option(
            "--priority",
            "-p",
            "--prio",
            help="critical, high, normal, background, or 0 to 3.",
            autocompletion=complete.priorities,
        ),
    ] = None,
    weight: Annotated[int | None, typer.Option("--weight", help="-400 to 400; else it stays.")] = None,
    status: Statuses = None,
    type_: Types = None,
    schedule: OfSchedule = None,
    source: Source = None,
    lane: LaneOption = None,
    since: Since = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Change the priority of tasks that are not over."""
    from kgsched.core.priority import NAMES, parse_priority, parse_weight

    if priority is None:
        last = ids[-1] if ids else ""
        meant = f"; did you mean --priority {last}?" if last in (*NAMES, "low", "0", "1", "2", "3") else ""
        raise InvalidValue(f"say which: --priority critical, high, normal, background, or 0 to 3{meant}")
    bucket = parse_priority(priority)
    if weight is not None:
        parse_weight(weight)
    options = Options(ids or (), (status, type_, schedule, source, lane, since), dry_run, yes, as_json)
    _change(
        "prioritize",
        options,
        lambda app, chosen, skip: app.operations.tasks.prioritize(chosen, bucket, weight, skip_missing=skip),
    )


def _change(action: str, options: Options, change: Change) -> None:
    if options.ids and options.filtered:
        raise InvalidValue("give ids or a filter, not both")
    if options.ids and not options.dry_run:
        _print_changes(visit(lambda app: change(app, options.ids, False)), options.as_json)
        return
    selection, report = visit(lambda app: _bulk(app, action, options, change))
    if options.as_json:
        done = None if report is None else asdict(report)
        print_json({"matched": len(selection.tasks), "by_status": selection.by_status, "done": done})
    elif report is None:
        print_table(("id", "type", "status", "source"), selection.tasks, "no tasks match")
    else:
        for answer, count in report.answers.items():
            print_line(f"{answer:<12} {count}")
        for one in report.refused:
            say(f"{one.id}: {one.refused}")


async def _bulk(app: Kgsched, action: str, options: Options, change: Change) -> tuple[Selection, BulkReport | None]:
    """Count, show, ask, change. No report after a dry run, or when nothing matches."""
    from kgsched.operations.bulk import Selection, carry_out, select_for
    from kgsched.surfaces.cli.selecting import read

    if options.ids:
        found = [await app.operations.tasks.show(one) for one in options.ids]
        selection = Selection(tuple(found))
    else:
        chosen = await read(app, *options.filters)
        selection = await select_for(app.operations.tasks, action, chosen)
    count = len(selection.tasks)
    parts = ", ".join(f"{n} {status}" for status, n in selection.by_status.items())
    say(f"{count} tasks match" + (f": {parts}" if parts else ""))
    if options.dry_run or not count:
        return selection, None
    for task in selection.tasks[:SAMPLE]:
        say(f"  {task['id']}  {task['type']}  {task['status']}")
    if count > SAMPLE:
        say(f"  … and {count - SAMPLE} more")
    await asyncio.to_thread(confirm, f"{action} these {count} tasks?", options.yes)
    return selection, await carry_out(selection.ids, lambda chunk: change(app, chunk, True))


def _print_changes(changes: Sequence[Changed], as_json: bool) -> None:
    """Exit 1 when one was refused."""
    if as_json:
        print_json({"tasks": [asdict(one) for one in changes]})
    else:
        print_table(
            ("id", "answer", "status", "detail"),
            [asdict(one) for one in changes if one.refused is None],
            "none changed",
        )
    for one in changes:
        if one.refused:
            say(f"error: {one.id}: {one.refused}")
    if any(one.refused for one in changes):
        raise typer.Exit(1)
