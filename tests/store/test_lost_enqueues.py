"""An enqueue whose commit was not answered is sent again: what it did is known, whatever came in between."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kgsched.core.task import Answer, OnConflict, Unique
from kgsched.errors import Conflict, StorageConnectionError
from tests.store.worlds import World, new_task

NEW = '{"a":2}'
Between = Callable[[World], Awaitable[object]]


async def _nothing(_: World) -> None:
    """Nobody came in between."""


async def _claim_all(world: World) -> None:
    await world.claim(9)


async def _end_all(world: World) -> None:
    for claim in await world.claim(9):
        await world.finish(claim)


@pytest.fixture
def lose(world: World, monkeypatch: pytest.MonkeyPatch) -> Callable[[Between], None]:
    """Lose the answer to the next commit of a transaction; what came in between is done before it is asked again."""
    real = world.store.client.atomically

    def arm(between: Between) -> None:
        async def lossy(doing: str, work: Any) -> Any:
            monkeypatch.undo()
            await real(doing, work)
            await between(world)
            raise StorageConnectionError("the answer to COMMIT was lost")

        monkeypatch.setattr(world.store.client, "atomically", lossy)

    return arm


@pytest.mark.parametrize("between", [_nothing, _claim_all, _end_all])
@pytest.mark.parametrize("mixed", [False, True])
async def test_a_replacing_whose_answer_was_lost_is_told_and_not_done_again(
    world: World, lose: Callable[[Between], None], between: Between, mixed: bool
) -> None:
    held = await world.enqueue_one(key="k")
    others = [new_task(), new_task(key="other"), new_task(key="lasts", unique=Unique.EVER)] if mixed else []
    lose(between)
    answers = await world.enqueue(new_task(key="k", payload=NEW, on_conflict=OnConflict.REPLACE), *others)
    assert (answers[0].uid, answers[0].answer) == (held.uid, Answer.REPLACED)
    assert {one.answer for one in answers[1:]} <= {Answer.CREATED}
    assert await world.count("MATCH (t:Task)") == 1 + len(others)
    assert (await world.task(held))["payload"] == NEW
    assert await world.broken() == []


async def test_a_replacing_whose_answer_was_lost_does_not_undo_a_later_one(
    world: World, lose: Callable[[Between], None]
) -> None:
    held = await world.enqueue_one(key="k")

    async def replace_again(_: World) -> None:
        await world.enqueue(new_task(key="k", payload='{"later":1}', on_conflict=OnConflict.REPLACE))

    lose(replace_again)
    (answer,) = await world.enqueue(new_task(key="k", payload=NEW, on_conflict=OnConflict.REPLACE))
    assert answer.answer is Answer.REPLACED
    assert (await world.task(held))["payload"] == '{"later":1}'


async def test_a_replacing_that_made_a_task_makes_no_second_one(world: World, lose: Callable[[Between], None]) -> None:
    lose(_end_all)
    (answer,) = await world.enqueue(new_task(key="k", on_conflict=OnConflict.REPLACE))
    assert answer.answer is Answer.CREATED
    assert await world.statuses(answer) == ["completed"]
    assert await world.count("MATCH (t:Task)") == 1


async def test_a_replacing_that_was_refused_is_refused_again_and_keeps_nothing(world: World) -> None:
    await world.enqueue_one(key="k")
    claim = await world.claim_one()
    new = new_task(key="k", payload=NEW, on_conflict=OnConflict.REPLACE)
    with pytest.raises(Conflict, match="nothing was enqueued"):
        await world.enqueue(new)
    await world.finish(claim)
    (answer,) = await world.enqueue(new)
    assert answer.answer is Answer.CREATED
