"""The filter options of a command as a filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kgsched.operations.filters import read_filter
from kgsched.surfaces.cli.output import notes

if TYPE_CHECKING:
    from kgsched.app import Kgsched
    from kgsched.core.task_filter import TaskFilter


async def read(
    app: Kgsched,
    status: Sequence[str] | None,
    type_: Sequence[str] | None,
    schedule: str | None,
    source: str | None,
    lane: str | None,
    since: str | None,
) -> TaskFilter:
    """Read and check the options; what was assumed is said on stderr."""
    chosen, said = read_filter(
        statuses=status or (),
        types=type_ or (),
        schedule=schedule,
        source=source,
        lane=lane,
        since=since,
        now=(await app.store.cluster.pulse()).now if since else None,
    )
    notes(said)
    await app.operations.schedules.check_name(schedule)
    await app.operations.tasks.check_types(chosen.types or ())
    return chosen
