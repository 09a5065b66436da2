"""The read-only query of people and agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kgsched.core.query_guard import QueryAnswer
from kgsched.errors import InvalidValue
from kgsched.operations.records import Record
from kgsched.ports import Store

ROWS = 50
MAX_ROWS = 1000
BYTES = 64 * 1024  # for each fifty rows


async def graph_query(
    store: Store, text: str, params: Mapping[str, Any] | None = None, rows: int = ROWS
) -> QueryAnswer:
    """Rows of one read statement, up to `rows` (1000 at most).

    Raises SecurityError for what is no plain read; it was not run then. BudgetExceeded when it takes too long.
    """
    if not 1 <= rows <= MAX_ROWS:
        raise InvalidValue(f"limit {rows} is not between 1 and {MAX_ROWS}")
    return await store.guarded.run(text, params or {}, rows=rows, size=BYTES * -(-rows // ROWS))


def answer_record(answer: QueryAnswer) -> Record:
    """An answer as surfaces show it; `cut` is there, and null when that is all."""
    return {"columns": list(answer.columns), "rows": list(answer.rows), "count": len(answer.rows), "cut": answer.cut}
