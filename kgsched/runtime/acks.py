"""The way out of a run: acknowledgements in batches, sent again until their verdict is known."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from kgsched.core.printable import MAX_MESSAGE, printable
from kgsched.core.task import Ack, AckAnswer, AckOutcome, AckReport, ErrorInfo, Verdict
from kgsched.errors import StorageConflict, StorageConnectionError
from kgsched.ports import Store
from kgsched.runtime.loop import AT_ONCE, Loop
from kgsched.runtime.side_loop import StoreSource

log = structlog.get_logger(__name__)

MAX_ROWS = 200
MAX_BYTES = 4 * 1024 * 1024
IDLE = 60.0
HALVE_AFTER = 3


@dataclass(frozen=True, slots=True)
class Receipt:
    """The verdict on one acknowledgement, and whether its batch released dependents."""

    answer: AckAnswer
    released: int = 0


@dataclass(slots=True)
class _Pending:
    ack: Ack
    receipt: asyncio.Future[Receipt]


class Outbox:
    """Never loses an acknowledgement while the process lives; one batch is under way at a time."""

    def __init__(self, source: StoreSource) -> None:
        self._source = source
        self._queue: deque[_Pending] = deque()
        self._batch: list[_Pending] = []
        self._stopped = False
        self.loop = Loop("acks", self._pass, interval=IDLE)

    def start(self) -> None:
        self.loop.start()

    def post(self, ack: Ack) -> asyncio.Future[Receipt]:
        """Take one acknowledgement to send; the future gets the store's verdict, or is cancelled by `stop`."""
        pending = _Pending(ack, asyncio.get_running_loop().create_future())
        if self._stopped:
            pending.receipt.cancel()
        else:
            self._queue.append(pending)
            self.loop.wake()
        return pending.receipt

    async def stop(self, timeout: float) -> int:
        """Wait for verdicts for `timeout` seconds at most; returns how many are still without one."""
        if receipts := self._receipts():
            await asyncio.wait(receipts, timeout=timeout)
        self._stopped = True
        await self.loop.stop(timeout=1.0)
        left = self._receipts()
        for receipt in left:
            receipt.cancel()
        return len(left)

    def _receipts(self) -> set[asyncio.Future[Receipt]]:
        return {one.receipt for one in (*self._batch, *self._queue) if not one.receipt.done()}

    async def _pass(self) -> float | None:
        store = await self._source.get()
        self._batch = [one for one in self._batch if not one.receipt.done()] or self._take()
        if not self._batch:
            return None
        await self._send(store, self._batch)
        return AT_ONCE if self._queue else None

    def _take(self) -> list[_Pending]:
        """The head of the queue: rows of one statement, bounded in number and bytes."""
        batch: list[_Pending] = []
        size, uids = 0, set[str]()
        while self._queue and len(batch) < MAX_ROWS:
            head = self._queue[0].ack
            size += _size(head)
            if batch and (size > MAX_BYTES or head.outcome.ends != batch[0].ack.outcome.ends or head.uid in uids):
                break
            uids.add(head.uid)
            batch.append(self._queue.popleft())
        return batch

    async def _send(self, store: Store, batch: Sequence[_Pending]) -> None:
        """Send a batch. An unknown outcome is raised; another error is pinned on its row by halving."""
        acks = [one.ack for one in batch]
        try:
            report = await _record(store, acks)
        except StorageConnectionError:
            raise
        except Exception as error:
            if isinstance(error, StorageConflict) and (len(batch) == 1 or self.loop.status.failing < HALVE_AFTER):
                raise
            if len(batch) > 1:
                middle = len(batch) // 2
                await self._send(store, batch[:middle])
                await self._send(store, batch[middle:])
            else:
                await self._send_failure(store, batch[0], error)
            return
        for one in batch:
            _answer(one, report)

    async def _send_failure(self, store: Store, pending: _Pending, error: Exception) -> None:
        """Record that an outcome could not be recorded, without anything of what it carried."""
        ack = pending.ack
        text = printable(f"its outcome {ack.outcome.value} could not be recorded: {error}", MAX_MESSAGE)
        log.error("outcome_unrecordable", task=ack.uid, outcome=ack.outcome.value, error=text)
        failure = Ack(ack.uid, ack.token, AckOutcome.FAILED, error=ErrorInfo("unrecordable", text))
        try:
            report = await _record(store, [failure])
        except (StorageConnectionError, StorageConflict):
            raise
        except Exception as second:  # noqa: BLE001 - the last resort: the lease ends, the reaper takes over
            log.error("outcome_dropped", task=ack.uid, error=printable(str(second), MAX_MESSAGE))
            _resolve(pending, Receipt(AckAnswer(Verdict.REFUSED, None)))
            return
        _answer(pending, report)


async def _record(store: Store, acks: Sequence[Ack]) -> AckReport:
    if acks[0].outcome.ends:
        return await store.tasks.finish(acks)
    return await store.tasks.reschedule(acks)


def _answer(pending: _Pending, report: AckReport) -> None:
    answer = report.answers.get(pending.ack.uid, AckAnswer(Verdict.GONE, None))
    _resolve(pending, Receipt(answer, report.released))


def _resolve(pending: _Pending, receipt: Receipt) -> None:
    if not pending.receipt.done():
        pending.receipt.set_result(receipt)


def _size(ack: Ack) -> int:
    error = ack.error
    texts = (ack.result, *ack.log, *(() if error is None else (error.message, error.traceback)))
    return 200 + sum(4 * len(text) if not text.isascii() else len(text) for text in texts if text)
