"""The queue agrees with a small model of it, whatever several actors do, in whatever order."""

from __future__ import annotations

import asyncio
import os

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from kgsched.localdb import ServerAddress
from tests.conftest import open_store
from tests.property.machine import QueueMachine
from tests.store.worlds import World

EXAMPLES = int(os.environ.get("KGSCHED_PROPERTY_EXAMPLES", "25"))
STEPS = 40


def test_the_queue_agrees_with_its_model(neo4j_server: ServerAddress) -> None:
    loop = asyncio.new_event_loop()
    store = open_store(neo4j_server, pool=2)
    try:
        loop.run_until_complete(store.migrate())
        QueueMachine.world, QueueMachine.loop = World(store), loop
        run_state_machine_as_test(
            QueueMachine,
            settings=settings(
                derandomize=EXAMPLES <= 25,
                max_examples=EXAMPLES,
                stateful_step_count=STEPS,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
    finally:
        loop.run_until_complete(store.close())
        loop.close()
