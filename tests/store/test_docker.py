"""One smoke test against the official image, where a Docker engine answers."""

from __future__ import annotations

import pytest
from testcontainers.community.neo4j import Neo4jContainer

from kgsched.core.claiming import TypeRule
from kgsched.core.task import Ack, AckOutcome
from kgsched.store import Neo4jStore
from tests.store.worlds import new_task

IMAGE = "neo4j:5.26-community"


@pytest.mark.docker
@pytest.mark.timeout(600)
async def test_a_task_goes_through_on_the_official_image() -> None:
    with Neo4jContainer(IMAGE) as container:
        store = Neo4jStore(container.get_connection_url(), container.username, container.password)
        try:
            await store.verify()
            await store.migrate()
            task = new_task("a")
            await store.tasks.enqueue([task])
            (claim,) = await store.tasks.claim({"a": TypeRule()}, 1, token="t", worker="w", session="s")
            report = await store.tasks.finish([Ack(claim.uid, "t", AckOutcome.COMPLETED)])
            assert report.answers[task.uid].verdict.counts
        finally:
            await store.close()
