"""Who sends a request, and the desk at which it is answered."""

from __future__ import annotations

from typing import Any, Protocol

from kgsched.core.access import Caller
from kgsched.surfaces.doors.action import Desk


class Reception(Protocol):
    """Knows who asks. `request` is the HTTP request, None on standard input."""

    async def caller(self, request: Any) -> Caller: ...
    async def desk(self, request: Any) -> Desk: ...
