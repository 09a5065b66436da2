"""An enqueue whose commit was not answered is sent again: what it did is known, whatever came in between."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kgsched.core.task import Answer, OnConflict, Unique
from kgsched.errors import Conflict, StorageConnectionError
from tests.store.worlds import World, new_task

NEW = '{"a":2}'
OTHER = '{"other":1}'
Between = Callable[[World], Awaitable[object]]


async def _nothing(_: World) -> None:
    """Nobody came in between."""


async def _claim_all(world: World) -> None:
    await world.claim(9)


async def _end_all(world: World) -> None:
    for claim in await world.claim(9):
        await world.finish(claim)


async def _end_and_take_the_key(world: World) -> None:
    await _end_all(world)
    await world.enqueue(new_task(key="k"))


async def _end_and_take_the_key_for_another(world: World) -> None:
    await _end_all(world)
    await world.enqueue(new_task(key="k", payload=OTHER))


@pytest.fixture
def lose(world: World, monkeypatch: pytest.MonkeyPatch) -> Callable[[Between], None]:
    """Lose the answer to the next commit of an enqueue; what came in between is done before it is asked again."""
    client = world.store.client
    reals = {"atomically": client.atomically, "run": client.run}

    def losing(real: Any, between: Between) -> Any:
        async def lossy(doing: str, *args: Any, **params: Any) -> Any:
            if "enqueue" not in doing:
                return await real(doing, *args, **params)
            monkeypatch.undo()
            await real(doing, *args, **params)
            await between(world)
            raise StorageConnectionError("the answer to COMMIT was lost")

        return lossy

    def arm(between: Between) -> None:
        for name, real in reals.items():
            monkeypatch.setattr(client, name, losing(real, between))

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


@pytest.mark.parametrize("between", [_end_all, _end_and_take_the_key, _end_and_take_the_key_for_another])
@pytest.mark.parametrize("fields", [{}, {"on_conflict": OnConflict.REFUSE}, {"unique": Unique.EVER}])
@pytest.mark.parametrize("more", ["alone", "with another", "with a child", "as a child"])
async def test_what_was_enqueued_under_a_key_is_told_though_the_key_was_taken_again(
    world: World, lose: Callable[[Between], None], between: Between, fields: dict[str, Any], more: str
) -> None:
    if more == "as a child":
        parent = await world.enqueue_one()
        await world.run_one()
        fields = {"after": [parent]} | {name: value for name, value in fields.items() if name != "unique"}
    mine = new_task(key="k", **fields)
    others = {"with another": [new_task()], "with a child": [new_task(after=[mine])]}.get(more, [])
    lose(between)
    answers = await world.enqueue(mine, *others)
    assert [(one.uid, one.answer) for one in answers] == [(one.uid, Answer.CREATED) for one in (mine, *others)]
    assert await world.status(mine) == "completed"


async def test_a_chain_that_joined_a_task_which_ended_since_is_told_as_it_was(
    world: World, lose: Callable[[Between], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = new_task(key="k")
    chain = [first, new_task(after=[first])]
    held = await world.enqueue_one(key="k")
    real = world.store.client.atomically

    async def misplaced_first(doing: str, work: Any) -> Any:
        """The first try finds that uids are out of order, the second is committed."""
        try:
            return await real(doing, work)
        except Conflict:
            lose(_end_all)
            raise

    monkeypatch.setattr(world.store.client, "atomically", misplaced_first)
    answers = await world.enqueue(*chain)
    assert [one.answer for one in answers] == [Answer.EXISTING, Answer.CREATED]
    assert answers[0].uid == held.uid
    assert await world.count("MATCH (t:Task)") == 2
