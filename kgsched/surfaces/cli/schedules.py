"""`kgsched schedules`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgsched.surfaces.cli import complete
from kgsched.surfaces.cli.options import RUN_S, DryRun, Json, Priority, RunTimeout
from kgsched.surfaces.cli.output import notes, print_json, print_line, print_pairs, print_table, say
from kgsched.surfaces.cli.readable import print_result
from kgsched.surfaces.cli.session import me, visit

if TYPE_CHECKING:
    from kgsched.app import Kgsched
    from kgsched.operations.schedules import ScheduleChange

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="Name of the schedule.", autocompletion=complete.schedule_names)]
COLUMNS = ("name", "enabled", "when", "priority", "next_run", "last_run", "last_outcome", "waiting")


@app.command("list")
def list_schedules(as_json: Json = False) -> None:
    """List all schedules."""
    rows = visit(lambda app: app.operations.schedules.list_schedules())
    if as_json:
        print_json({"schedules": rows})
    else:
        empty = "no schedules yet; `kgsched schedules apply` makes those of the file"
        print_table(COLUMNS, [_marked(row) for row in rows], empty)


@app.command()
def show(name: Name, as_json: Json = False) -> None:
    """Show one schedule with its options, next runs and last changes."""
    record = visit(lambda app: app.operations.schedules.show(name))
    if as_json:
        print_json(record)
        return
    parts = {key: record.pop(key) for key in ("next_runs", "revisions")}
    print_pairs(record.items())
    print_line(f"next runs   {', '.join(parts['next_runs']) or 'none'}")
    print_line("changes")
    print_table(("number", "at", "by", "note"), parts["revisions"])


@app.command("run-now")
def run_now(
    name: Name,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Do not wait for it to run.")] = False,
    timeout: RunTimeout = RUN_S,
    priority: Priority = None,
    payload: Annotated[
        str | None, typer.Option("--payload", help="JSON instead of the schedule's own payload.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a schedule now, wait for it, and print its result. Its phase stays; it also works while disabled."""
    from kgsched.core.json_text import parse_json

    value = None if payload is None else parse_json("payload", payload)

    async def act(app: Kgsched) -> dict[str, Any]:
        done = await app.operations.schedules.run_now(name, priority=priority, payload=value)
        answer: dict[str, Any] = asdict(done)
        if done.coalesced:
            say(f"note: coalesced with {done.id}, which has not run yet")
        if no_wait:
            return answer | {"status": None, "result": None, "last_error": None}
        await _warn_without_worker(app, done.id)
        waited = await app.operations.tasks.wait([done.uid], timeout)
        task = waited.tasks[0]
        return answer | {key: task[key] for key in ("status", "result", "last_error")}

    answer = visit(act)
    if as_json:
        print_json(answer)
    elif answer["result"] is not None:
        print_result(answer["result"])
    elif no_wait:
        print_line(answer["id"])
    _end(name, answer, no_wait, timeout)


@app.command()
def enable(name: Name, as_json: Json = False) -> None:
    """Let it run again, at its next slot; failures are forgotten."""
    _print_change(visit(lambda app: app.operations.schedules.enable(name, me())), as_json)


@app.command()
def disable(name: Name, as_json: Json = False) -> None:
    """Stop it from running by itself; run-now still works."""
    _print_change(visit(lambda app: app.operations.schedules.disable(name, me())), as_json)


@app.command()
def prioritize(
    name: Name,
    priority: Annotated[
        str,
        typer.Argument(help="critical, high, normal, background, or 0 to 3.", autocompletion=complete.priorities),
    ],
    as_json: Json = False,
) -> None:
    """Change the priority of its later ticks."""
    _print_change(visit(lambda app: app.operations.schedules.prioritize(name, priority, me())), as_json)


@app.command("set-interval")
def set_interval(
    name: Name,
    interval: Annotated[str, typer.Argument(help="Seconds, or a duration like 15m, 1h30m, 2d; at least 1s.")],
    as_json: Json = False,
) -> None:
    """Change its interval; a cron schedule becomes an interval."""
    _print_change(visit(lambda app: app.operations.schedules.set_interval(name, interval, me())), as_json)


@app.command()
def apply(
    file: Annotated[
        Path | None,
        typer.Argument(help="The file; else KGSCHED_SCHEDULES, ./deploy/schedules.yml, or the packaged one."),
    ] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Apply a file of schedules. What was changed live stays until the file changes that same field.

    Disables the schedules that this same file made earlier and no longer names; those that another file made stay as
    they are. A schedule of another file that this one names too is taken over. --dry-run shows what would be done.
    """
    done = visit(lambda app: app.operations.schedules.apply(file, me(), dry_run=dry_run), built_in=True)
    if as_json:
        print_json(asdict(done))
        return
    notes(done.notes)
    if dry_run:
        say("dry run; this would be:")
    for kind in ("created", "changed", "disabled", "unchanged"):
        names = getattr(done, kind)
        if names:
            print_line(f"{kind:<10} {', '.join(names)}")


async def _warn_without_worker(app: Kgsched, tick: str) -> None:
    if not await app.operations.cluster.workers():
        say(f"note: no worker is alive; {tick} waits until one starts (`kgsched daemon`)")


def _end(name: str, answer: dict[str, Any], no_wait: bool, timeout: float | None) -> None:
    """Exit 1 unless it completed."""
    if no_wait or answer["status"] == "completed":
        return
    if answer["status"] in ("failed", "dead_letter", "cancelled"):
        say(f"error: {answer['id']} of schedule {name!r} ended as {answer['status']}: {answer['last_error'] or '-'}")
    else:
        say(
            f"error: {answer['id']} of schedule {name!r} is still {answer['status']} after {timeout:g} s; "
            f"`kgsched tasks wait {answer['id']}` waits on"
        )
    raise typer.Exit(1)


def _print_change(change: ScheduleChange, as_json: bool) -> None:
    if as_json:
        print_json({"schedule": change.schedule, "notes": list(change.notes)})
        return
    notes(change.notes)
    print_table(COLUMNS, [_marked(change.schedule)])


def _marked(row: dict[str, Any]) -> dict[str, Any]:
    """The row with the run that the wait after failures lets it have."""
    due, until = row["next_run"], row["backoff_until"]
    return row | {"next_run": f"{until} (waits after failures)"} if due and until and until > due else row
