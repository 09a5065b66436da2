"""`/v1/schedules` and `POST /graph/schedules`."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from kgsched import Kgsched
from tests.rest.running import problem, serving
from tests.surfaces.commands import ROOT

FILE = """
schedules:
  hourly:
    type: read
    every: 1h
  nightly:
    type: read
    cron: "0 3 * * *"
    timezone: Europe/Berlin
"""


@pytest.fixture(autouse=True)
async def applied(app: Kgsched, tmp_path: Path) -> None:
    file = tmp_path / "schedules.yml"
    file.write_text(FILE)
    await app.operations.schedules.apply(file, by="a test")


async def act(web: httpx.AsyncClient, **given: object) -> httpx.Response:
    return await web.post("/graph/schedules", json=given)


async def test_the_curl_line_works_as_written(app: Kgsched) -> None:
    with serving(app) as server:
        url = f"localhost:{server.port}/graph/schedules"
        curl = await asyncio.create_subprocess_exec(
            "curl", "-s", url, "-d", '{"action":"list"}', stdout=asyncio.subprocess.PIPE, cwd=ROOT
        )
        out, _ = await curl.communicate()
    assert [one["name"] for one in json.loads(out)["schedules"]] == ["hourly", "nightly"]


async def test_every_action_of_the_tool(web: httpx.AsyncClient) -> None:
    assert (await act(web, action="show", name="hourly")).json()["schedule"]["next_runs"]
    assert (await act(web, action="disable", name="hourly")).json()["schedule"]["enabled"] is False
    assert (await act(web, action="enable", name="hourly")).json()["schedule"]["enabled"] is True
    assert (await act(web, action="prioritize", name="hourly", priority="low")).json()["schedule"]["prio_bucket"] == 3
    changed = (await act(web, action="set_interval", name="nightly", interval_s=900)).json()
    assert (changed["schedule"]["trigger"], len(changed["notes"])) == ("every 15m", 1)
    assert len((await act(web, action="preview", name="hourly", count=7)).json()["next_runs"]) == 7
    tick = (await act(web, action="run_now", name="hourly", priority="high")).json()
    assert (tick["coalesced"], tick["id"].startswith("run:hourly:")) == (False, True)
    assert (await act(web, action="run_now", name="hourly")).json()["coalesced"] is True
    problem(await act(web, action="run_now", name="hourly", payload={"other": 1}), 409)


async def test_an_unknown_action_names_those_that_there_are(web: httpx.AsyncClient) -> None:
    assert "'run_now'" in problem(await act(web, action="explode"), 422)["detail"]
    assert "hourly" in problem(await act(web, action="show", name="hourli"), 404)["near"]


async def test_a_schedule_is_changed_only_as_it_was_read(web: httpx.AsyncClient) -> None:
    tag = (await web.get("/v1/schedules/hourly")).headers["etag"]
    changed = await web.patch("/v1/schedules/hourly", json={"enabled": False}, headers={"If-Match": tag})
    assert changed.headers["etag"] != tag
    problem(await web.patch("/v1/schedules/hourly", json={"enabled": True}, headers={"If-Match": tag}), 412)
    problem(await web.patch("/v1/schedules/hourly", json={"enabled": True}, headers={"If-Match": "nonsense"}), 422)
    for other in ('"99"', 'W/"v1"', '""'):
        problem(await web.patch("/v1/schedules/hourly", json={"enabled": True}, headers={"If-Match": other}), 412)
    again = await web.patch("/v1/schedules/hourly", json={"priority": 0, "interval": "2h"}, headers={"If-Match": "*"})
    assert (again.json()["schedule"]["trigger"], again.json()["schedule"]["prio_bucket"]) == ("every 2h", 0)


async def test_a_change_is_all_or_nothing(web: httpx.AsyncClient) -> None:
    problem(await web.patch("/v1/schedules/hourly", json={"enabled": False, "interval": "0.5s"}), 422)
    assert (await web.get("/v1/schedules/hourly")).json()["schedule"]["enabled"] is True
    problem(await web.patch("/v1/schedules/hourly", json={}), 422)


async def test_a_condition_is_part_of_the_request_and_the_tag_part_of_the_answer(web: httpx.AsyncClient) -> None:
    path, wanted, key = "/v1/schedules/hourly", {"priority": "low"}, {"Idempotency-Key": "k"}
    tag = (await web.get(path)).headers["etag"]
    problem(await web.patch(path, json=wanted, headers=key | {"If-Match": '"v0"'}), 412)
    first = await web.patch(path, json=wanted, headers=key | {"If-Match": tag})
    again = await web.patch(path, json=wanted, headers=key | {"If-Match": tag})
    assert (again.status_code, again.headers["etag"]) == (200, first.headers["etag"])
    problem(await web.patch(path, json=wanted, headers=key | {"If-Match": first.headers["etag"]}), 422)


async def test_a_mistake_is_pointed_at_where_it_was_sent(web: httpx.AsyncClient) -> None:
    for action, missing in (("set_interval", "name"), ("show", "name")):
        found = problem(await web.post("/graph/schedules", json={"action": action}), 422)
        assert f"/body/{missing}" in [one["pointer"] for one in found["errors"]]
    odd = problem(await web.post("/graph/schedules", json={"action": "show", "name": "hourly", "show": 1}), 422)
    assert [one["pointer"] for one in odd["errors"]] == ["/body/show"]
    odd = problem(
        await web.post("/v1/tasks/batch", json={"tasks": [{"type": "read"}, {"type": "read", "priority": []}]}), 422
    )
    assert [one["pointer"] for one in odd["errors"]] == ["/body/tasks/1/priority"]
    assert ", or: " in odd["errors"][0]["detail"]


async def test_run_now_is_accepted_not_done(web: httpx.AsyncClient) -> None:
    answer = await web.post("/v1/schedules/hourly/run-now")
    assert answer.status_code == 202
    assert (await web.get(f"/v1/tasks/{answer.json()['id']}")).json()["status"] == "pending"
    assert len((await web.get("/v1/schedules/hourly/preview?count=2")).json()["next_runs"]) == 2
