"""A daemon that dies while clients are at its door."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from tests.acceptance.commands import Commands
from tests.store.worlds import World

pytestmark = pytest.mark.processes
HANDLERS = ("--import", "tests.acceptance.handlers", "--port", "0")
REQUESTS = 40


def body(number: int) -> dict[str, object]:
    return {"type": "short", **({"key": f"k{number}"} if number % 2 else {})}


async def send(url: str, numbers: range) -> list[httpx.Response | BaseException]:
    async with httpx.AsyncClient(base_url=url, timeout=60) as web:
        asked = (
            web.post("/v1/tasks", json=body(number), headers={"Idempotency-Key": str(number)}) for number in numbers
        )
        return await asyncio.gather(*asked, return_exceptions=True)


def executed(commands: Commands) -> list[str]:
    return [line.split()[1] for line in Path(commands.env["NOTES"]).read_text().splitlines()]


async def test_what_is_sent_again_after_a_daemon_was_killed_is_done_once(hasty: Commands, world: World) -> None:
    """Wherever the kill fell: before the deed, between deed and answer, after it. The bodies' file is the judge."""
    with hasty.daemon(*HANDLERS) as first:
        url = first.wait_for("HTTP at ").split()[2].rstrip(",")
        sending = asyncio.ensure_future(send(url, range(REQUESTS)))
        while not executed(hasty):  # noqa: ASYNC110 - what it waits for is in the file system
            await asyncio.sleep(0.01)
        await asyncio.to_thread(first.kill)
        heard = await sending
    answered = {n: one.json() for n, one in enumerate(heard) if isinstance(one, httpx.Response)}
    await world.cypher("MATCH (a:Answer) SET a.taken_until = 0")  # two minutes later
    with hasty.daemon(*HANDLERS) as second:
        url = second.wait_for("HTTP at ").split()[2].rstrip(",")
        again = await send(url, range(REQUESTS))
        told = {n: one.json() for n, one in enumerate(again) if isinstance(one, httpx.Response)}
        assert {one.status_code for one in again if isinstance(one, httpx.Response)} == {201}
        assert len(told) == len({one["uid"] for one in told.values()}) == REQUESTS
        assert {n: told[n] for n in answered} == answered
        hasty.run("kgsched", "tasks", "wait", *(str(one["id"]) for one in told.values()), "--timeout", "60")
    assert set(executed(hasty)) == {one["id"] for one in told.values()}
    assert await world.count("MATCH (t:Task {type: 'short'})") == REQUESTS
