"""From ids that people write to uids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kgsched.core.limits import MAX_BATCH_ROWS, check_text
from kgsched.errors import NotFound
from kgsched.ports import TaskReads

_MANY = 3


def missing_task(id_: str, why: str = "") -> NotFound:
    return NotFound(f"no task {id_!r}: {why}it does not exist, or was purged; `kgsched tasks list` shows ids")


async def resolve(
    reads: TaskReads, space: str, ids: Sequence[str], *, skip_missing: bool = False
) -> list[dict[str, Any]]:
    """Rows {asked, uid, id, status, type, schedule} in the order asked; ids or uids, each once.

    Raises NotFound that names what does not exist (unless it is to be skipped), Conflict for a text that means two.
    """
    wanted = list(dict.fromkeys(check_text("id", one) for one in ids))
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(wanted), MAX_BATCH_ROWS):
        found |= await reads.resolve(space, wanted[start : start + MAX_BATCH_ROWS])
    missing = [one for one in wanted if one not in found]
    if missing and not skip_missing:
        if len(missing) == 1:
            raise missing_task(missing[0])
        names = ", ".join(map(repr, missing[:_MANY])) + (f" and {len(missing) - _MANY} more" if missing[_MANY:] else "")
        raise NotFound(f"no tasks {names}: they do not exist, or were purged; `kgsched tasks list` shows ids")
    return [found[one] for one in wanted if one in found]
