"""The process of one handler: `python -m kgsched.runtime.process_child JOB_FD REPORT_FD`.

The job is one JSON line; reports are JSON lines: log lines, progress, at last the outcome. When the job pipe closes,
the worker is gone: this process and all that it started end at once.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import resource
import signal
import sys
import threading
from typing import Any, TextIO

from kgsched.core.binding import bind
from kgsched.core.limits import to_json
from kgsched.core.outcome import Outcome
from kgsched.runtime.outcomes import completed, raised
from kgsched.runtime.process_job import find, outcome_line
from kgsched.runtime.run_log import RunLog

MAX_PROGRESS_BYTES = 16 * 1024


class Stopped(BaseException):
    """The worker asked this process to end."""


class ProcessContext:
    """What a handler in a process is given: its task, log and progress. It has no connection to the graph."""

    def __init__(self, job: dict[str, Any], reports: TextIO) -> None:
        self.id: str = job["id"]
        self.uid: str = job["uid"]
        self.space: str = job["space"]
        self.type: str = job["type"]
        self.lane: str = job["lane"]
        self.attempt: int = job["attempt"]
        self.max_attempts: int = job["max_attempts"]
        self.fence: int = job["fence"]
        self.schedule: str | None = job["schedule"]
        self.slot: int | None = job["slot"]
        self.worker: str = job["worker"]
        self.payload: Any = job["payload"]
        self._reports = reports
        self._lock = threading.Lock()
        self._log = RunLog()

    def log(self, line: object, /, **values: object) -> None:
        """As TaskContext.log."""
        self._log(line, **values)
        self.report(json.dumps({"log": self._log.lines()[-1]}))

    def progress(self, value: Any) -> None:
        """Say how far the run is: any JSON of up to 16 KiB."""
        self.report(json.dumps({"progress": to_json(f"progress of task {self.id}", value, MAX_PROGRESS_BYTES)}))

    def report(self, line: str) -> None:
        with self._lock:
            self._reports.write(line + "\n")
            self._reports.flush()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"a handler with executor='process' has no ctx.{name}; it has id, payload, log, progress and what tells"
            " of its task. Use an async or thread handler for the graph"
        )


def main() -> None:
    job_fd, report_fd = int(sys.argv[1]), int(sys.argv[2])
    os.set_inheritable(job_fd, False)
    os.set_inheritable(report_fd, False)
    jobs = os.fdopen(job_fd, encoding="utf-8")
    reports = os.fdopen(report_fd, "w", encoding="utf-8")
    sys.stdout = sys.stderr
    signal.signal(signal.SIGTERM, _stop)
    job = json.loads(jobs.readline())
    threading.Thread(target=_end_with_worker, args=(jobs,), daemon=True).start()
    context = ProcessContext(job, reports)
    context.report(outcome_line(_run(job, context)))
    os._exit(0)


def _run(job: dict[str, Any], context: ProcessContext) -> Outcome:
    permanent: tuple[type[BaseException], ...] = ()
    transient: tuple[type[BaseException], ...] = ()
    try:
        _limit_memory(job["memory_mb"])
        sys.path[:] = job["path"]
        permanent = tuple(find(one) for one in job["permanent"])
        transient = tuple(find(one) for one in job["transient"])
        handler = find(job["handler"])
        args, kwargs = bind(context.type, handler, context, context.payload)
        value = handler(*args, **kwargs)
        if inspect.iscoroutine(value):
            value = asyncio.run(value)
        return completed(context.type, value)
    except BaseException as error:  # noqa: BLE001 - every way out of a handler has an outcome, SystemExit too
        return raised(error, permanent=permanent, transient=transient)


def _limit_memory(megabytes: int | None) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if megabytes is not None:
        size = megabytes * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _stop(number: int, frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Stopped(f"signal {number}")


def _end_with_worker(jobs: TextIO) -> None:
    jobs.read()
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    main()
