"""The last lines that a run logged about itself."""

from __future__ import annotations

import time
from collections import deque

from kgsched.core.printable import MAX_LOG_LINE, printable

KEPT_LINES = 100


class RunLog:
    """Called with a line of text; keeps the last 100, each with the time since the run began. Thread-safe."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)

    def __call__(self, line: object, /, **values: object) -> None:
        text = " ".join([_shown(line), *(f"{name}={_shown(value)}" for name, value in values.items())])
        self._lines.append(f"+{time.monotonic() - self._began:.3f}s {printable(text, MAX_LOG_LINE)}")

    def append(self, line: str) -> None:
        """Keep a line that another process has put in form already."""
        self._lines.append(printable(line, MAX_LOG_LINE + 20))

    def lines(self) -> tuple[str, ...]:
        return tuple(self._lines)


def _shown(value: object) -> str:
    try:
        return str(value)
    except BaseException:  # noqa: BLE001 - a line of the log is no reason for a run to fail
        return f"<{type(value).__name__}>"
