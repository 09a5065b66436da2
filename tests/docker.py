"""Whether a Docker engine answers; tests that need one are deselected where none does."""

from __future__ import annotations

import subprocess

import pytest


def answers() -> bool:
    try:
        return subprocess.run(["docker", "info"], capture_output=True, timeout=20, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def deselect(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take the tests marked `docker` out, and say so in one line, where no engine answers."""
    marked = [item for item in items if item.get_closest_marker("docker")]
    if not marked or answers():
        return
    items[:] = [item for item in items if item not in marked]
    config.hook.pytest_deselected(items=marked)
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(f"no Docker engine answers: {len(marked)} test(s) on the official image deselected")
