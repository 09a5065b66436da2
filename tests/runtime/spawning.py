"""How children are enqueued in these tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kgsched.core.task import Claim, Enqueued, NewTask
from kgsched.ports import Store, Transaction
from kgsched.registry import Handler
from kgsched.store.uids import new_uid


async def spawn(
    store: Store, parent: Claim, what: str | Handler, keywords: Mapping[str, Any], tx: Transaction | None
) -> Enqueued:
    """Enqueue a child of `parent`: keywords are its payload."""
    assert isinstance(what, str)
    child = NewTask(new_uid([parent.uid]), what, "ingestion", json.dumps(dict(keywords)), spawned_by=parent.uid)
    return (await store.tasks.enqueue([child], tx=tx))[0]
