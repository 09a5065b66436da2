"""`kgsched tasks`: list, show, enqueue, wait. What changes many at once is in tasks_change.py."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgsched.errors import InvalidValue, UnknownName
from kgsched.surfaces.cli import complete, tasks_change
from kgsched.surfaces.cli.options import (
    Json,
    LaneOption,
    OfSchedule,
    Priority,
    Since,
    Source,
    Statuses,
    Timeout,
    Types,
)
from kgsched.surfaces.cli.output import cell, notes, print_json, print_line, print_pairs, print_table, say
from kgsched.surfaces.cli.session import visit

if TYPE_CHECKING:
    from kgsched.app import Kgsched
    from kgsched.core.task import Enqueued
    from kgsched.operations.tasks import Page

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.command()(tasks_change.cancel)
app.command()(tasks_change.retry)
app.command()(tasks_change.prioritize)

COLUMNS = ("id", "type", "status", "priority", "weight", "attempts", "enqueued_at", "source", "last_error")
MAX_ERROR = 60
KEPT_LINES = 100  # of the log of a run
Id = Annotated[str, typer.Argument(metavar="ID", help="Id or uid of the task.", autocompletion=complete.task_ids)]


@app.command("list")
def list_tasks(
    status: Statuses = None,
    type_: Types = None,
    schedule: OfSchedule = None,
    source: Source = None,
    lane: LaneOption = None,
    since: Since = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Rows of a page, up to 500.")] = 50,
    cursor: Annotated[str | None, typer.Option("--cursor", help="Where the page before ended.")] = None,
    as_json: Json = False,
) -> None:
    """List tasks, newest first."""
    from kgsched.surfaces.cli.selecting import read

    async def act(app: Kgsched) -> Page:
        chosen = await read(app, status, type_, schedule, source, lane, since)
        return await app.operations.tasks.list_tasks(chosen, limit, cursor)

    page = visit(act)
    if as_json:
        print_json({"tasks": list(page.items), "next_cursor": page.next_cursor})
        return
    print_table(COLUMNS, [_brief(task) for task in page.items], "no tasks match")
    if page.next_cursor:
        say(f"more: --cursor {page.next_cursor}")


@app.command()
def show(id_: Id, as_json: Json = False) -> None:
    """Show one task with its runs and what happened to it, in order."""
    record = visit(lambda app: app.operations.tasks.show(id_))
    if as_json:
        print_json(record)
        return
    runs, events = record.pop("attempt_history"), record.pop("timeline")
    parents = record.pop("waits_for")
    print_pairs((name, value) for name, value in record.items() if value not in ([], 0))
    if parents:
        print_line("waits for")
        print_table(("id", "type", "status", "on_failure"), parents)
    print_line("timeline")
    for event in events:
        print_line(f"  {event['at']}  {event['event']}" + (f"  {cell(event['detail'])}" if event["detail"] else ""))
    for run in runs:
        _print_run(run)


@app.command()
def enqueue(
    type_: Annotated[str, typer.Argument(metavar="TYPE", help="Task type.", autocompletion=complete.task_types)],
    payload: Annotated[
        str | None, typer.Argument(help="JSON; @file reads a file, - reads standard input.", show_default=False)
    ] = None,
    id_: Annotated[str | None, typer.Option("--id", help="An id of your own, unique in the space.")] = None,
    priority: Priority = None,
    weight: Annotated[int, typer.Option("--weight", help="-400 to 400; higher first inside a priority.")] = 0,
    eta: Annotated[str | None, typer.Option("--eta", help="Not before this instant, like 2026-11-30T21:00Z.")] = None,
    delay: Annotated[str | None, typer.Option("--delay", help="Not before this duration has passed, like 10m.")] = None,
    after: Annotated[
        list[str] | None,
        typer.Option("--after", help="Wait for this task; may be given again.", autocompletion=complete.task_ids),
    ] = None,
    on_failure: Annotated[
        str, typer.Option("--on-failure", help="When what it waits for ends badly: cancel, hold or ignore.")
    ] = "cancel",
    key: Annotated[str | None, typer.Option("--key", help="Unique while the task is live.")] = None,
    unique_for: Annotated[
        str | None, typer.Option("--unique-for", help="The key holds this long instead, like 1d, or `ever`.")
    ] = None,
    on_conflict: Annotated[
        str, typer.Option("--on-conflict", help="When the key is taken: existing, refuse or replace.")
    ] = "existing",
    source: Annotated[str | None, typer.Option("--source", help="What it is about, a URL mostly.")] = None,
    gate: Annotated[str | None, typer.Option("--gate", help="Concurrency key.")] = None,
    max_attempts: Annotated[int | None, typer.Option("--max-attempts", help="1 to 1000.")] = None,
    allow_unknown_type: Annotated[
        bool, typer.Option("--allow-unknown-type", help="Also a type that no worker has ever handled.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Enqueue a task and print its id."""
    from kgsched.operations.enqueue import enqueued_record
    from kgsched.operations.new_task import EnqueueRequest

    request = EnqueueRequest(
        type=type_,
        payload=_payload(payload),
        id=id_,
        priority=priority,
        weight=weight,
        eta=eta,
        delay=delay,
        after=tuple(after or ()),
        on_failure=on_failure,
        key=key,
        unique_for=unique_for,
        on_conflict=on_conflict,
        source=source,
        gate=gate,
        max_attempts=max_attempts,
        allow_unknown_type=allow_unknown_type,
    )

    async def act(app: Kgsched) -> Enqueued:
        try:
            return await app.operations.tasks.enqueue(request)
        except UnknownName as error:
            if error.kind != "task type":
                raise
            remedy = "(--allow-unknown-type enqueues it for a worker that comes later)"
            raise InvalidValue(f"{error.plain} {remedy}") from None

    done = visit(act)
    if as_json:
        print_json(enqueued_record(done))
        return
    notes(done.notes)
    if done.answer.value != "created":
        say(f"note: {done.answer.value}; the task that stands for it is {done.status.value if done.status else '-'}")
    print_line(done.id)


@app.command()
def wait(
    ids: Annotated[list[str], typer.Argument(help="Ids or uids.", autocompletion=complete.task_ids)],
    timeout: Timeout = None,
    as_json: Json = False,
) -> None:
    """Wait until tasks are over. Exit 0 when all completed, else 1."""

    def seen(task: dict[str, Any]) -> None:
        if sys.stderr.isatty():
            say(f"{task['id']}  {task['status']}")

    waited = visit(lambda app: app.operations.tasks.wait(ids, timeout, seen))
    if as_json:
        print_json({"tasks": list(waited.tasks), "done": waited.done})
    else:
        print_table(("id", "status", "attempts", "result", "last_error"), waited.tasks)
    if not waited.done:
        say(f"error: not all are over after {timeout:g} s")
    if not waited.done or any(task["status"] != "completed" for task in waited.tasks):
        raise typer.Exit(1)


def _brief(task: dict[str, Any]) -> dict[str, Any]:
    """The task with its error cut on a terminal, so that the other columns keep their width."""
    error = task["last_error"]
    if error is None or len(error) <= MAX_ERROR or not sys.stdout.isatty():
        return task
    return task | {"last_error": error[: MAX_ERROR - 1] + "…"}


def _payload(text: str | None) -> Any:
    from kgsched.core.json_text import parse_json

    if text is None:
        return None
    try:
        if text == "-":
            text = sys.stdin.read()
        elif text.startswith("@"):
            text = Path(text[1:]).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidValue("payload is not UTF-8 text") from None
    except OSError as error:
        raise InvalidValue(f"payload file {text[1:]}: {error.strerror}") from None
    return parse_json("payload", text)


def _print_run(run: dict[str, Any]) -> None:
    if not (run["traceback"] or run["log"]):
        return
    print_line(f"run {run['number']} on {run['worker']}: {run['outcome']}")
    if len(run["log"] or ()) >= KEPT_LINES:
        print_line(f"  (of the log the last {KEPT_LINES} lines are kept)")
    for line in "\n".join(run["log"] or ()).splitlines():
        print_line(f"  | {line}")
    for line in (run["traceback"] or "").splitlines():
        print_line(f"  {line}")
