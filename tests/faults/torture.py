"""The long form of the faults: 20,000 tasks a scenario, on a server of its own, as a table."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from kgsched.localdb import ManagedServer, ServerAddress
from kgsched.store import probe
from tests.conftest import open_store
from tests.faults.judge import HEAD, Verdict
from tests.faults.scenarios import ON_A_SERVER_THAT_STAYS, Scenario, restarts
from tests.faults.stage import Scale, Stage
from tests.server import given_server, local_settings
from tests.store.worlds import World

KNOWN: dict[str, Scenario] = {one.__name__: one for one in ON_A_SERVER_THAT_STAYS}
RESTARTS = "restarts"
RESTART_PAUSES = 10
WIDTHS = (32, 7, 8, 7, 11, 6, 5, 0)


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def show(row: Sequence[str]) -> None:
    say(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, WIDTHS, strict=True))
        )
    )


async def run(address: Callable[[], ServerAddress], chosen: dict[str, Scenario], scale: Scale) -> list[Verdict]:
    """Each scenario on an empty graph, one after the other; a server that is killed gets the time to do some work."""
    store = open_store(address())
    await store.migrate()
    verdicts = []
    for name, scenario in chosen.items():
        world = World(store)
        await world.wipe()
        with tempfile.TemporaryDirectory(prefix=f"kgsched-{name}-") as folder:
            pause = scale.pause * (RESTART_PAUSES if name == RESTARTS else 1)
            verdicts.append(await scenario(Stage(address(), world, Path(folder), replace(scale, pause=pause))))
        show(verdicts[-1].row())
    await store.close()
    return verdicts


def run_on_a_server_of_its_own(names: Sequence[str], scale: Scale) -> list[Verdict]:
    with tempfile.TemporaryDirectory(prefix="kgsched-torture-", ignore_cleanup_errors=True) as home:
        server = ManagedServer(local_settings(Path(home)), probe, say)
        with server.hold():
            every = KNOWN | {RESTARTS: restarts(server)}
            return asyncio.run(run(server.ensure, {name: every[name] for name in names}, scale))


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/torture", description="Let faults fall on workers, and judge.")
    parser.add_argument("scenarios", nargs="*", choices=[[], *KNOWN, RESTARTS], help="all unless named")
    parser.add_argument("--tasks", type=int, default=20_000, help="at least, a scenario")
    parser.add_argument("--faults", type=int, default=20, help="at least, a scenario")
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between two faults")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--slots", type=int, default=32, help="of each worker")
    parser.add_argument("--hold", type=float, default=60.0, help="seconds for which a user's transaction stays open")
    given = parser.parse_args()
    scale = Scale(
        tasks=given.tasks,
        faults=given.faults,
        pause=given.pause,
        ahead=2_000,
        workers=given.workers,
        slots=given.slots,
        hold=given.hold,
        patience=3_600.0,
    )
    logging.getLogger("neo4j").addHandler(logging.NullHandler())  # what it has to say is what is being done to it
    names = given.scenarios or [*KNOWN, RESTARTS]
    show(HEAD)
    if (uri := os.environ.get("KGSCHED_TEST_NEO4J_URI")) and RESTARTS not in names:
        chosen = {name: KNOWN[name] for name in names}
        verdicts = asyncio.run(run(lambda: given_server(uri), chosen, scale))
    else:
        verdicts = run_on_a_server_of_its_own(names, scale)
    return 1 if any(one.wrong for one in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
