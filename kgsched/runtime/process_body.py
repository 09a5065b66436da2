"""A handler in a process of its own, killable with all that it started."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any

import structlog

from kgsched.core.outcome import Failed, Outcome
from kgsched.core.task import ErrorInfo
from kgsched.registry import TaskType
from kgsched.runtime.body import End
from kgsched.runtime.context import TaskContext
from kgsched.runtime.outcomes import raised
from kgsched.runtime.process_job import MAX_LINE, job_line, read_outcome

log = structlog.get_logger(__name__)

PROGRESS_WAIT = 5.0
ENDED = b'\n{"ended":true}\n'


class ProcessBody:
    """Spawns the process and reads its reports, in a thread. `stop` sends SIGTERM, `abandon` SIGKILL, to its group."""

    def __init__(self, task_type: TaskType, context: TaskContext) -> None:
        self._type = task_type
        self._context = context
        self._end = End()
        self.ended = self._end.future
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._signal: signal.Signals | None = None
        threading.Thread(target=self._main, name=f"kgsched-process-{context.id[:40]}", daemon=True).start()

    def stop(self) -> None:
        self._send(signal.SIGTERM)

    def abandon(self) -> None:
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        with self._lock:
            self._signal = number
            if self._process is not None and self._process.returncode is None:
                _signal_group(self._process.pid, number)

    def _main(self) -> None:
        try:
            self._end.tell(self._run(job_line(self._type, self._facts())))
        except Exception as error:  # noqa: BLE001 - a process that cannot be started is an outcome, too
            self._end.tell(raised(error))

    def _facts(self) -> dict[str, Any]:
        one = self._context
        names = ("id", "uid", "space", "type", "lane", "attempt", "max_attempts", "fence", "schedule", "slot")
        return {**{name: getattr(one, name) for name in names}, "worker": one.worker, "payload": one.payload}

    def _run(self, job: str) -> Outcome:
        job_read, job_write = os.pipe()
        report_read, report_write = os.pipe()
        with open(job_write, "wb", buffering=0) as jobs, open(report_read, "rb") as reports:  # noqa: PTH123 - descriptors
            process = self._spawn(job_read, report_write)
            threading.Thread(target=_tell_end, args=(process.pid, report_write), daemon=True).start()
            try:
                outcome = self._talk(jobs, reports, job)
            finally:
                with self._lock:
                    _signal_group(process.pid, signal.SIGKILL)
                    process.wait()
        return outcome or _died(process.returncode)

    def _spawn(self, job_read: int, report_write: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "kgsched.runtime.process_child", str(job_read), str(report_write)]
        try:
            with self._lock:
                self._process = subprocess.Popen(
                    command, pass_fds=(job_read, report_write), stdin=subprocess.DEVNULL, start_new_session=True
                )
                if self._signal is not None:
                    _signal_group(self._process.pid, self._signal)
                return self._process
        except BaseException:
            os.close(report_write)
            raise
        finally:
            os.close(job_read)

    def _talk(self, jobs: Any, reports: Any, job: str) -> Outcome | None:
        """Send the job; follow the reports until the outcome, or None when the process ends without one."""
        with contextlib.suppress(BrokenPipeError):
            _write_all(jobs.fileno(), job.encode() + b"\n")
        while line := reports.readline(MAX_LINE):
            if not line.strip():
                continue
            try:
                message = json.loads(line)
                if "outcome" in message:
                    return read_outcome(message)
                if "ended" in message:
                    return None
                self._note(message)
            except (ValueError, KeyError, TypeError) as error:
                log.warning("process_report_unreadable", task=self._context.id, error=str(error))
        return None

    def _note(self, message: dict[str, Any]) -> None:
        if "log" in message:
            self._context.log.append(message["log"])
        elif "progress" in message:
            self._record_progress(json.loads(message["progress"]))

    def _record_progress(self, value: Any) -> None:
        try:
            self._context.sync.wait(self._context.progress(value), timeout=PROGRESS_WAIT)
        except Exception as error:  # noqa: BLE001 - progress is a courtesy: the run goes on without it
            log.warning("progress_not_recorded", task=self._context.id, error=repr(error))


def _tell_end(pid: int, report_write: int) -> None:
    """Say behind all reports that the process has ended: children that it left may hold the pipe open."""
    with contextlib.suppress(OSError):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # it is left to be waited for
    with contextlib.suppress(OSError):
        os.write(report_write, ENDED)
    os.close(report_write)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _died(code: int) -> Outcome:
    how = f"of signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    return Failed(ErrorInfo("process_died", f"the handler's process ended {how} without an outcome"))
