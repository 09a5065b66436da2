"""Load the HTTP door while workers claim: 50 clients list and enqueue for a minute; claims are timed before and in it.

A Neo4j of its own is started in a temporary folder, and a daemon that serves HTTP. Four claimers in this process claim
and finish tasks of type `load`. Printed: claims and their p50 and p95 without and with load, answers by status, p95 of
requests, and the daemon's memory every few seconds. Absolute figures tell about the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx
import psutil

from kgsched import Kgsched
from kgsched.core.claiming import TypeRule
from kgsched.core.task import Ack, AckOutcome
from kgsched.operations.new_task import EnqueueRequest
from kgsched.store import Neo4jStore
from kgsched.testing import temporary_app

RULES = {"load": TypeRule("ingestion")}
CLAIMERS = 4


async def claimer(store: Neo4jStore, name: str, took: list[float], over: asyncio.Event) -> None:
    """Claims and finishes, and notes how long each claim took."""
    round_ = 0
    while not over.is_set():
        round_ += 1
        token, start = f"{name}-{round_}", time.perf_counter()
        claims = await store.tasks.claim(RULES, 4, token=token, worker=name, session=name)
        took.append(time.perf_counter() - start)
        if claims:
            await store.tasks.finish([Ack(one.uid, token, AckOutcome.COMPLETED, "{}") for one in claims])
        await asyncio.sleep(0.1)


async def client(web: httpx.AsyncClient, pause: float, answers: Counter[str], took: list[float], until: float) -> None:
    """Lists and enqueues by turns."""
    while time.monotonic() < until:
        for request in (
            web.build_request("POST", "/v1/tasks", json={"type": "load", "allow_unknown_type": True}),
            web.build_request("GET", "/v1/tasks?limit=20"),
        ):
            start = time.perf_counter()
            try:
                answer = await web.send(request)
                answers[f"{request.method} {answer.status_code}"] += 1
            except httpx.HTTPError as error:
                answers[type(error).__name__] += 1
            took.append(time.perf_counter() - start)
            await asyncio.sleep(pause)


async def be_clients(options: argparse.Namespace) -> None:
    """The clients, in a process of their own; prints what they got."""
    answers: Counter[str] = Counter()
    took: list[float] = []
    limits = httpx.Limits(max_connections=options.clients, max_keepalive_connections=options.clients)
    async with httpx.AsyncClient(base_url=options.url, timeout=30, limits=limits, verify=False) as web:
        until = time.monotonic() + options.seconds
        await asyncio.gather(*(client(web, options.pause, answers, took, until) for _ in range(options.clients)))
    print("answers      ", dict(sorted(answers.items())))
    rate = sum(answers.values()) / options.seconds
    print(
        f"requests/s    {rate:8.0f}   p50 {1000 * statistics.median(took):7.1f}   p95 {p95(took):7.1f} ms", flush=True
    )


async def phase(own: Kgsched, seconds: float) -> list[float]:
    """Four claimers for so long; what their claims took."""
    took: list[float] = []
    over = asyncio.Event()
    running = [asyncio.create_task(claimer(own.store, f"w{n}", took, over)) for n in range(CLAIMERS)]
    await asyncio.sleep(seconds)
    over.set()
    await asyncio.gather(*running)
    return took


async def fill(own: Kgsched, n: int) -> None:
    requests = [EnqueueRequest("load", allow_unknown_type=True) for _ in range(n)]
    await own.operations.tasks.enqueue_many(requests)


async def loaded(own: Kgsched, url: str, pid: int, options: argparse.Namespace) -> list[float]:
    over = asyncio.Event()
    words = ("-m", "tests.rest.load", "--url", url, *sys.argv[1:])
    clients = await asyncio.create_subprocess_exec(sys.executable, *words)
    memory = asyncio.create_task(watch(pid, over))
    took = await phase(own, options.seconds)
    await clients.wait()
    over.set()
    print("memory, MB   ", await memory)
    return took


async def watch(pid: int, over: asyncio.Event) -> list[int]:
    process, seen = psutil.Process(pid), list[int]()
    while not over.is_set():
        seen.append(process.memory_info().rss // 2**20)
        await asyncio.sleep(3)
    return seen


def p95(took: list[float]) -> float:
    return 1000 * (statistics.quantiles(took, n=20)[-1] if len(took) > 20 else max(took, default=0.0))


async def daemon(own: Kgsched, folder: Path) -> tuple[asyncio.subprocess.Process, str]:
    """A daemon that serves HTTP on a free port, and its address."""
    password = next(own.settings.home.glob("*/password")).read_text().strip()
    env = {
        **os.environ,
        "KGSCHED_NEO4J_URI": own.store.client.uri,
        "KGSCHED_NEO4J_PASSWORD": password,
        "KGSCHED_HOME": str(folder),
        "KGSCHED_LOG_LEVEL": "error",
        "KGSCHED_HTTP_RATE": "0",
    }
    schedules = folder / "none.yml"
    schedules.write_text("schedules: {}\n")
    words = ("-m", "kgsched", "daemon", "--port", "0", "--schedules", str(schedules))
    process = await asyncio.create_subprocess_exec(sys.executable, *words, env=env, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None
    while line := (await process.stderr.readline()).decode():
        if line.startswith("HTTP at "):
            return process, line.split()[2].rstrip(",")
    raise SystemExit("the daemon did not start")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--pause", type=float, default=1.0, help="between two requests of a client")
    parser.add_argument("--url", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.url:
        await be_clients(options)
        return
    async with temporary_app() as own:
        with tempfile.TemporaryDirectory() as name:
            process, url = await daemon(own, Path(name))
            try:
                await fill(own, 4000)
                print("warming up")
                await loaded(own, url, process.pid, options)  # plans are made, and the server's code is compiled
                await fill(own, 4000)
                quiet = await phase(own, options.seconds / 2)
                await fill(own, 4000)
                busy = await loaded(own, url, process.pid, options)
            finally:
                process.send_signal(signal.SIGTERM)
                await process.communicate()
    for title, took in (("without load", quiet), ("with load", busy)):
        print(f"claims {title:<13} {len(took):5}   p50 {1000 * statistics.median(took):7.1f}   p95 {p95(took):7.1f} ms")


if __name__ == "__main__":
    asyncio.run(main())
