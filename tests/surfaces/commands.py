"""Commands as a shell runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgsched.localdb import ServerAddress

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Commands:
    """Commands on one database, in a folder that has nothing to do with it."""

    def __init__(self, address: ServerAddress) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("KGSCHED_", "KG_"))}
        self.environment = kept | {
            "KGSCHED_NEO4J_URI": address.uri,
            "KGSCHED_NEO4J_USER": address.user,
            "KGSCHED_NEO4J_PASSWORD": address.password,
            "KGSCHED_NEO4J_DATABASE": address.database,
            "PYTHONPATH": str(ROOT),
        }

    def line(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "kgsched", *words]

    def run(self, *words: str, text: str | None = None, **environment: str) -> Answer:
        """`kgsched words…`, with `text` on standard input."""
        return self._run(self.line(*words), text, environment)

    def run_words(self, command: str, *words: str) -> Answer:
        """`graph_query words…` or `graph_schedules words…`."""
        code = f"from kgsched.surfaces.cli.words import {command}; {command}()"
        return self._run([sys.executable, "-c", code, *words], None, {})

    def _run(self, line: Sequence[str], text: str | None, more: dict[str, str]) -> Answer:
        done = subprocess.run(
            line,
            input=text,
            stdin=subprocess.DEVNULL if text is None else None,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=self.environment | more,
        )
        return Answer(done.returncode, done.stdout, done.stderr)
