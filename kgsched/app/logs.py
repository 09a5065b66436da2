"""Logs: lines for a person on a terminal, JSON elsewhere, always on stderr."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog

from kgsched.config import Settings


def set_up_logs(settings: Settings) -> None:
    """Configure structlog unless the program that uses kgsched has done so."""
    if structlog.is_configured():
        return
    plain = settings.log_format == "console" or (settings.log_format == "auto" and sys.stderr.isatty())
    ending: list[Any] = (
        [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
        if plain
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *ending,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[settings.log_level.upper()]),
        # not PrintLogger: that one writes a line and its end apart, and another thread's line comes between
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
