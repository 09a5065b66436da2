"""What workers wait for, run with nothing to do: the server compiles it beside the work, not in its way."""

from __future__ import annotations

from typing import Any

from kgsched.store.client import Client

NOTHING_TO_DO: dict[str, dict[str, Any]] = {
    "tasks/look": {"rules": {}, "capped": [], "n": 1},
    "tasks/claim": {"rules": {}, "n": 1, "token": "", "worker": "", "session": ""},
    "tasks/read_payloads": {"uids": []},
    "tasks/finish": {"acks": [], "shard": "0"},
    "tasks/claim_capped": {"lane": "", "rules": {}, "n": 1, "token": "", "worker": "", "session": ""},
    "tasks/reschedule": {"acks": [], "shard": "0"},
    "gates/admit": {"gates": []},
}
"""In the order of their first use."""


async def warm(client: Client) -> None:
    """Have plans ready. A first compile takes up to half a second, and so does one after the store has grown much."""
    for name, params in NOTHING_TO_DO.items():
        await client.run(name, **params)
