"""The loop that every service runs on."""

from __future__ import annotations

import asyncio
import time

from kgsched.core.backoff import Backoff
from kgsched.errors import StorageConnectionError
from kgsched.runtime.loop import Loop
from tests.runtime.waiting import until

NEVER = 3600.0


class Passes:
    """Counts its passes; the next ones fail with `errors`, or ask to be called again after `delays`."""

    def __init__(self) -> None:
        self.count = 0
        self.errors: list[Exception] = []
        self.delays: list[float] = []
        self.hold = asyncio.Event()
        self.hold.set()

    async def __call__(self) -> float | None:
        self.count += 1
        await self.hold.wait()
        if self.errors:
            raise self.errors.pop(0)
        return self.delays.pop(0) if self.delays else None


async def test_a_loop_passes_at_once_and_again_when_woken() -> None:
    passes = Passes()
    loop = Loop("x", passes, interval=NEVER)
    loop.start()
    await until(lambda: passes.count == 1)
    loop.wake()
    await until(lambda: passes.count == 2)
    loop.wake(0.01)
    await until(lambda: passes.count == 3)
    await loop.stop()
    assert loop.status.passes == 3


async def test_a_pass_says_when_the_next_one_is_due() -> None:
    passes = Passes()
    passes.delays = [0.0, 0.01]
    loop = Loop("x", passes, interval=NEVER)
    loop.start()
    await until(lambda: passes.count == 3)
    await loop.stop()


async def test_a_wake_during_a_pass_is_not_lost() -> None:
    passes = Passes()
    passes.hold.clear()
    loop = Loop("x", passes, interval=NEVER)
    loop.start()
    await until(lambda: passes.count == 1)
    loop.wake()
    passes.hold.set()
    await until(lambda: passes.count == 2)
    await loop.stop()


async def test_errors_never_end_a_loop_and_are_counted() -> None:
    passes = Passes()
    passes.errors = [ValueError("one"), StorageConnectionError("two"), KeyError("three")]
    loop = Loop("x", passes, interval=NEVER, backoff=Backoff(1, 5))
    loop.start()
    await until(lambda: loop.status.passes == 1)
    assert (loop.status.errors, loop.status.failing, loop.status.away) == (3, 0, False)
    assert loop.status.last_error is not None
    assert "three" in loop.status.last_error
    await loop.stop()


async def test_a_failing_loop_is_not_woken_out_of_its_backoff() -> None:
    passes = Passes()
    passes.errors = [StorageConnectionError("away")]
    loop = Loop("x", passes, interval=NEVER, backoff=Backoff(3_600_000, 3_600_000))
    loop.start()
    await until(lambda: loop.status.failing == 1)
    loop.wake()
    for _ in range(20):
        await asyncio.sleep(0)
    assert passes.count == 1
    assert loop.status.away
    await loop.stop()


async def test_after_pass_waits_for_a_pass_that_begins_later() -> None:
    passes = Passes()
    passes.hold.clear()
    loop = Loop("x", passes, interval=NEVER)
    loop.start()
    await until(lambda: passes.count == 1)
    signal = asyncio.create_task(loop.after_pass())
    await asyncio.sleep(0)
    loop.wake()
    passes.hold.set()
    await signal
    assert passes.count == 2
    await loop.stop()


async def test_stopping_lets_the_pass_under_way_end() -> None:
    passes = Passes()
    passes.hold.clear()
    loop = Loop("x", passes, interval=NEVER)
    loop.start()
    await until(lambda: passes.count == 1)
    stopping = asyncio.create_task(loop.stop(timeout=NEVER))
    await asyncio.sleep(0)
    passes.hold.set()
    await stopping
    assert loop.status.passes == 1


async def test_stopping_bounds_a_pass_that_hangs() -> None:
    passes = Passes()
    passes.hold.clear()
    loop = Loop("x", passes, interval=NEVER)
    loop.start()
    await until(lambda: passes.count == 1)
    waiter = asyncio.create_task(loop.after_pass())
    began = time.monotonic()
    await loop.stop(timeout=0.05)
    await waiter
    assert time.monotonic() - began < 30.0
    assert loop.status.passes == 0


async def test_a_pass_that_hears_nothing_is_given_up_and_the_loop_goes_on() -> None:
    passes = Passes()
    passes.hold.clear()
    loop = Loop("x", passes, interval=NEVER, limit=0.02, backoff=Backoff(1, 1))
    loop.start()
    await until(lambda: loop.status.failing)
    assert loop.status.away
    passes.hold.set()
    await until(lambda: loop.status.passes)
    await loop.stop()
