"""Every statement that decides, against a transaction that changes what it decides on; with and without its locks."""

from __future__ import annotations

import pytest

from tests.queries.headers import header, names
from tests.store.races import of_claims, of_jobs, of_outcomes, of_purged, of_requests, of_schedules
from tests.store.races.race import Race, meet
from tests.store.worlds import World

MODULES = (of_claims, of_outcomes, of_requests, of_jobs, of_schedules, of_purged)
RACES: list[Race] = [race for module in MODULES for race in module.RACES]
SLOTTED = "CYPHER runtime=slotted "
QUEUE = {"tasks", "jobs", "gates", "schedules", "cluster"}
UNCONTESTED = {"schedules/create", "cluster/resign"}


@pytest.mark.parametrize("race", RACES, ids=str)
async def test_a_statement_waits_and_decides_on_what_was_committed(race: Race, world: World) -> None:
    seen = await meet(world, race)
    assert seen.waited
    assert race.holds(seen), seen


@pytest.mark.parametrize("race", RACES[::5], ids=str)
async def test_the_slotted_runtime_decides_alike(race: Race, world: World) -> None:
    """What other servers than the Community Edition are asked to use."""
    seen = await meet(world, race, prefix=SLOTTED)
    assert seen.waited
    assert race.holds(seen), seen


@pytest.mark.parametrize("race", [race for race in RACES if race.breaks], ids=str)
async def test_without_its_locks_the_statement_is_wrong(race: Race, world: World) -> None:
    seen = await meet(world, race, locked=False)
    with pytest.raises((AssertionError, KeyError, IndexError)):
        assert race.holds(seen)


def test_every_statement_that_locks_is_raced() -> None:
    locking = {name for name in names() if "lock_v = 0" in header(name).body}
    locking = {name for name in locking if name.split("/")[0] in QUEUE}
    assert locking - {race.statement for race in RACES} <= UNCONTESTED
