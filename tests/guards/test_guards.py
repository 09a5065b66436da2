"""For each guard: the promise holds, and without the line it does not."""

from __future__ import annotations

import pytest

from kgsched.store.queries import statements
from tests.guards import of_claims, of_queues
from tests.guards.guard import Guard
from tests.store.worlds import World

GUARDS: list[Guard] = [*of_claims.GUARDS, *of_queues.GUARDS]


@pytest.mark.parametrize("guard", GUARDS, ids=str)
async def test_the_promise_holds(guard: Guard, world: World) -> None:
    assert await guard.promise(world)


@pytest.mark.parametrize("guard", GUARDS, ids=str)
async def test_without_its_line_the_bad_thing_happens(
    guard: Guard, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(statements(), guard.statement, guard.removed())
    assert not await guard.promise(world)
