"""`kgsched neo4j …` as a person types it, one server through its whole life."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from kgsched.errors import InvalidValue
from kgsched.surfaces.cli.neo4j import app


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("KGSCHED_HOME", str(home))
    monkeypatch.delenv("KGSCHED_NEO4J_URI", raising=False)

    def invoke(*words: str, refused: type[Exception] | None = None) -> Result:
        result = CliRunner().invoke(app, words)
        if refused is not None:
            assert isinstance(result.exception, refused)
        else:
            assert result.exit_code == 0, (result.output, result.exception)
        return result

    return invoke


def test_a_server_lives_and_ends_by_commands(run: Any, home: Path, tmp_path: Path) -> None:
    assert json.loads(run("status", "--json").stdout)["running"] is False
    started = run("start")
    address = started.stdout.strip()
    assert address.startswith("bolt://127.0.0.1:")
    assert "kgsched neo4j stop" in started.stderr
    assert run("uri").stdout.strip() == address
    state = json.loads(run("status", "--json").stdout)
    assert (state["running"], state["ready"], state["pinned"], state["uri"]) == (True, True, True, address)
    password = Path(state["password_file"]).read_text().strip()
    assert password not in run("status").stdout + json.dumps(state)
    assert any("Started" in line for line in json.loads(run("logs", "--json").stdout)["lines"])
    assert run("stop").stdout.strip() == "stopped"
    assert run("stop").stdout.strip() == "it did not run"

    file = Path(json.loads(run("backup", str(tmp_path), "--json").stdout)["backup"])
    assert file.is_file()
    run("backup", str(file), refused=InvalidValue)
    run("restore", str(file), refused=InvalidValue)
    assert Path(run("restore", str(file), "--yes").stdout.strip()).is_dir()
    run("destroy", refused=InvalidValue)
    run("destroy", "--yes")
    assert not list(home.glob("*/version"))
