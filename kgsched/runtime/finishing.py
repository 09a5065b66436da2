"""A handler's own transaction that ends with its task's completion: both or neither."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from kgsched.core.backoff import Backoff
from kgsched.core.limits import check_transaction_time, to_json
from kgsched.core.outcome import Completed, decide
from kgsched.core.task import Ack, AckAnswer, AckReport, Claim, Verdict
from kgsched.errors import Conflict, LeaseConflict, StoreError
from kgsched.ports import Store, Transaction
from kgsched.runtime.leases import Leases
from kgsched.runtime.run_log import RunLog

log = structlog.get_logger(__name__)
RETRY_S = 0.5


class Finisher:
    """Commits a handler's writes and its completion together. `report` is set once that is known to be committed."""

    def __init__(self, claim: Claim, store: Store, leases: Leases, grace: float, run_log: RunLog) -> None:
        self._claim = claim
        self._store = store
        self._leases = leases
        self._grace = grace
        self._log = run_log
        self._open = False
        self.report: AckReport | None = None

    @asynccontextmanager
    async def transaction(self, result: object, timeout: float) -> AsyncIterator[Transaction]:
        """See TaskContext.finishing."""
        check_transaction_time(timeout)
        if self.report is not None or self._open:
            raise Conflict(f"task {self._claim.id} is being finished already; finishing() can be used once a run")
        self._open = True
        self._leases.pause(self._claim)
        try:
            await self._extend(timeout)
            async with self._committed_or_not():
                async with self._store.graph.transaction(timeout) as tx:
                    yield tx
                    report = await self._finish(tx, result)
                self.report = report
        finally:
            self._open = False
            if self.report is None:
                self._leases.resume(self._claim)
            else:
                self._leases.drop(self._claim)

    async def _extend(self, timeout: float) -> None:
        lease, sent_at = timeout + self._grace, time.monotonic()
        if not await self._store.tasks.extend(self._claim, round(lease * 1000)):
            raise LeaseConflict(f"task {self._claim.id} is no longer ours; its finishing transaction was not opened")
        self._leases.renewed([self._claim], sent_at, lease)

    async def _finish(self, tx: Transaction, result: object) -> AckReport:
        report = await self._store.tasks.finish([self._ack(result)], tx=tx)
        answer = report.answers.get(self._claim.uid)
        if answer is None or answer.verdict is not Verdict.WON:
            verdict = "gone" if answer is None else answer.verdict.value
            raise LeaseConflict(f"task {self._claim.id} is no longer ours ({verdict}); its transaction is rolled back")
        return report

    def _ack(self, result: object) -> Ack:
        value = result() if callable(result) else result
        text = None if value is None else to_json(f"result of task {self._claim.id}", value, sort=False)
        ack = decide(self._claim, Completed(text), Backoff(), 0.0)
        return dataclasses.replace(ack, log=self._log.lines())

    @asynccontextmanager
    async def _committed_or_not(self) -> AsyncIterator[None]:
        """After a lost answer or a cancellation, find out under the task's lock whether the commit took place."""
        try:
            yield
        except (StoreError, asyncio.CancelledError) as error:
            if not await self._settled():
                raise
            if isinstance(error, asyncio.CancelledError):
                raise
            log.info("commit_answer_lost_but_done", task=self._claim.id, error=str(error))

    async def _settled(self) -> bool:
        asking = asyncio.ensure_future(self._ask())
        while not asking.done():
            try:
                await asyncio.shield(asking)
            except asyncio.CancelledError:
                continue
        answer = asking.result()
        if answer is None or answer.verdict is not Verdict.REPEATED:
            return False  # WON says that the claim still runs: nothing was committed
        self.report = AckReport({self._claim.uid: answer}, released=1)
        return True

    async def _ask(self) -> AckAnswer | None:
        while True:
            try:
                return await self._store.tasks.read_outcome(self._claim)
            except StoreError as error:
                until = self._leases.valid_until(self._claim)
                if until is None or time.monotonic() + RETRY_S >= until:
                    log.warning("commit_outcome_unknown", task=self._claim.id, error=str(error))
                    return None
                await asyncio.sleep(RETRY_S)
