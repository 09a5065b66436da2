"""The slots of a worker: one pipeline a task, from its claim to the verdict on its acknowledgement."""

from __future__ import annotations

import asyncio
import dataclasses
import random
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

from kgsched.config import Settings
from kgsched.core.backoff import Backoff
from kgsched.core.binding import parse_payload
from kgsched.core.outcome import Failed, Outcome, Released, decide
from kgsched.core.task import Ack, AckReport, Claim, Verdict
from kgsched.registry import Registry, TaskType
from kgsched.runtime.acks import Outbox, Receipt
from kgsched.runtime.context import Surroundings, TaskContext
from kgsched.runtime.executors import start_body
from kgsched.runtime.outcomes import raised
from kgsched.runtime.run import Run, StopReason, bound_of
from kgsched.runtime.ticks import TickEnd, TickKeeper

log = structlog.get_logger(__name__)

Key = tuple[str, str]


class Runner:
    """Runs claimed tasks. `on_free` is called when a slot became free or something was released."""

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        around: Surroundings,
        outbox: Outbox,
        ticks: TickKeeper,
        *,
        stop_grace: float,
        on_free: Callable[[], None],
    ) -> None:
        self._registry = registry
        self._around = around
        self._outbox = outbox
        self._ticks = ticks
        self._stop_grace = stop_grace
        self._on_free = on_free
        self._backoff = Backoff(round(settings.backoff_base * 1000), round(settings.backoff_cap * 1000))
        self._deadline_ms = None if settings.deadline is None else round(settings.deadline * 1000)
        self._runs: dict[Key, Run] = {}
        self._tasks: dict[Key, asyncio.Task[None]] = {}
        self.counts: Counter[str] = Counter()

    def types(self) -> list[str]:
        """The type in each slot that is taken, also by bodies that ignore their stop."""
        return [run.claim.type for run in self._runs.values()]

    def start(self, claim: Claim, payload: str) -> None:
        self.counts["started"] += 1
        try:
            task_type = self._registry.get(claim.type)
            context = TaskContext(claim, parse_payload(claim.type, payload), self._around)
        except Exception as error:  # noqa: BLE001 - a task that cannot even begin has an outcome, too
            ack = decide(claim, raised(error), self._backoff, random.random())
            self._keep(claim, self._send(claim, ack))
        else:
            self._keep(claim, self._run(self._prepare(claim, task_type, context), task_type))

    def stop(self, claim: Claim, reason: StopReason, why: str = "") -> None:
        """Tell the body of a claim to stop, if it still runs."""
        run = self._runs.get((claim.uid, claim.token))
        if run is not None:
            run.stop(reason, why)

    def unreported(self, claim: Claim) -> bool:
        """Whether the body of a claim runs and has said nothing yet."""
        run = self._runs.get((claim.uid, claim.token))
        return run is not None and not run.settled.is_set()

    def stop_older(self, claim: Claim) -> None:
        """This process has claimed a task again: bodies of its earlier claims are to stop."""
        for (uid, token), run in self._runs.items():
            if uid == claim.uid and token != claim.token:
                run.stop(StopReason.LOST, "claimed again by this worker")

    async def drain(self, timeout: float) -> None:
        """Wait `timeout` seconds for what runs; stop and release the rest."""
        await self._until_settled(timeout)
        for run in self._runs.values():
            run.stop(StopReason.DRAIN)
        await self._until_settled(self._stop_grace + 2.0)

    async def _until_settled(self, timeout: float) -> None:
        waits = [asyncio.ensure_future(run.settled.wait()) for run in self._runs.values()]
        if waits:
            _, left = await asyncio.wait(waits, timeout=timeout)
            for wait in left:
                wait.cancel()

    async def close(self) -> None:
        """Forget what is left: bodies that ignore their stop."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def give_back(self, claim: Claim, reason: str) -> None:
        """Release a claim that was never started."""
        self._keep(claim, self._send(claim, decide(claim, Released(reason), self._backoff, 0.0)))

    async def hurry(self, grace: float) -> None:
        """Stop and release all bodies now."""
        for run in self._runs.values():
            run.hurry(grace)
        await self._until_settled(3 * grace)

    def _keep(self, claim: Claim, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name=f"run:{claim.id}")
        self._tasks[claim.uid, claim.token] = task
        task.add_done_callback(lambda done: self._over(claim, done))

    async def _run(self, run: Run, task_type: TaskType) -> None:
        try:
            outcome = await self._outcome(run, task_type)
            if outcome is None:
                await run.ended()
                outcome = run.late()
            if run.over and run.reason is not StopReason.LOST:  # else this worker would race its own late report
                self._free(run)
            run.settled.set()
            await self._report(run, task_type, outcome)
            await run.ended()
        finally:
            self._free(run)

    async def _outcome(self, run: Run, task_type: TaskType) -> Outcome | None:
        try:
            return await run.outcome()
        except Exception as error:  # noqa: BLE001 - a body that cannot be started has an outcome, too
            return raised(error, permanent=task_type.permanent, transient=task_type.transient)

    def _prepare(self, claim: Claim, task_type: TaskType, context: TaskContext) -> Run:
        bound = bound_of(task_type, claim.lane, self._deadline_ms)
        bodies = self._around.bodies
        run = Run(claim, context, bound, self._stop_grace, lambda: start_body(task_type, context, bodies))
        self._runs[claim.uid, claim.token] = run
        return run

    def _free(self, run: Run) -> None:
        if self._runs.pop((run.claim.uid, run.claim.token), None) is not None:
            self._on_free()

    async def _report(self, run: Run, task_type: TaskType, outcome: Outcome | None) -> None:
        claim = run.claim
        finisher = run.context.finisher
        if finisher is not None and finisher.report is not None:
            self._around.leases.drop(claim)
            if isinstance(outcome, Failed):
                said = f"{outcome.error.kind}: {outcome.error.message}"
                log.warning("error_after_finishing", task=claim.id, type=claim.type, error=said)
            self._finished_by_itself(claim, finisher.report)
        elif outcome is None:
            self.counts["lost"] += 1
            log.warning("claim_lost", task=claim.id, type=claim.type, reason=run.why)
        else:
            ack = decide(claim, outcome, task_type.backoff or self._backoff, random.random())
            await self._send(claim, dataclasses.replace(ack, log=run.context.log.lines()))

    def _send(self, claim: Claim, ack: Ack) -> Coroutine[Any, Any, None]:
        """Post an acknowledgement now; the coroutine waits for its verdict."""
        posted = self._outbox.post(dataclasses.replace(ack, worker=self._around.worker))
        return self._receive(claim, ack, posted)

    async def _receive(self, claim: Claim, ack: Ack, posted: asyncio.Future[Receipt]) -> None:
        receipt = await posted
        self._around.leases.drop(claim)
        self._judge(claim, ack, receipt)

    def _judge(self, claim: Claim, ack: Ack, receipt: Receipt) -> None:
        verdict, status = receipt.answer.verdict, receipt.answer.status
        if not verdict.counts:
            self.counts["refused"] += 1
            log.warning(
                "late_finish", task=claim.id, type=claim.type, run=claim.claims, outcome=ack.outcome, now=status
            )
            return
        self.counts[ack.outcome.value] += 1
        if ack.error is not None:
            log.info("task_not_completed", task=claim.id, type=claim.type, outcome=ack.outcome, why=ack.error.message)
        if verdict is Verdict.LATE:
            log.info("late_finish_accepted", task=claim.id, type=claim.type)
        if claim.schedule is not None and status is not None and status.terminal:
            reason = None if ack.error is None else ack.error.message
            self._ticks.record(TickEnd(claim.space, claim.schedule, claim.uid, status, reason))
        if receipt.released or not ack.outcome.ends:
            self._on_free()

    def _finished_by_itself(self, claim: Claim, report: AckReport) -> None:
        self.counts["completed"] += 1
        status = report.answers[claim.uid].status
        if claim.schedule is not None and status is not None:
            self._ticks.record(TickEnd(claim.space, claim.schedule, claim.uid, status, None))
        self._on_free()

    def _over(self, claim: Claim, done: asyncio.Task[None]) -> None:
        del self._tasks[claim.uid, claim.token]
        if not done.cancelled() and (error := done.exception()) is not None:
            self.counts["broken"] += 1
            self._around.leases.drop(claim)
            log.error("run_broken", task=claim.id, error=repr(error), exc_info=error)
