"""Waiting for a condition with a deadline."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

PAUSE = 0.05


async def until(condition: Callable[[], Any], timeout: float = 60.0) -> Any:
    """The first true answer of `condition`; fails the test when `timeout` seconds pass without one."""
    deadline = time.monotonic() + timeout
    while True:
        answer = condition()
        value = await answer if isinstance(answer, Awaitable) else answer
        if value:
            return value
        assert time.monotonic() < deadline, f"still not true after {timeout} s: {condition}"
        await asyncio.sleep(PAUSE)
