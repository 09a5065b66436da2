"""Every statement that decides, against a transaction that changes what it decides on; with and without its locks."""

from __future__ import annotations

import pytest

from tests.queries.headers import header, names
from tests.store.races import of_jobs, of_purged, of_schedules, of_tasks
from tests.store.races.race import Race, meet
from tests.store.worlds import World

RACES = [*of_tasks.RACES, *of_jobs.RACES, *of_schedules.RACES, *of_purged.RACES]
UNCONTESTED = {"schedules/create", "cluster/resign"}


@pytest.mark.parametrize("race", RACES, ids=str)
async def test_a_statement_waits_and_decides_on_what_was_committed(race: Race, world: World) -> None:
    seen = await meet(world, race)
    assert seen.waited
    assert race.holds(seen), seen


@pytest.mark.parametrize("race", [race for race in RACES if race.breaks], ids=str)
async def test_without_its_locks_the_statement_is_wrong(race: Race, world: World) -> None:
    seen = await meet(world, race, locked=False)
    with pytest.raises((AssertionError, KeyError, IndexError)):
        assert race.holds(seen)


def test_every_statement_that_locks_is_raced() -> None:
    locking = {name for name in names() if "lock_v = 0" in header(name).body}
    locking = {name for name in locking if not name.startswith("research/")}
    assert locking - {race.statement for race in RACES} <= UNCONTESTED
