"""The built wheel, installed into a clean environment and used in an empty folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kgsched.config import load_settings
from kgsched.demo.arxiv_server import ArxivServer
from kgsched.localdb import ServerAddress
from tests.acceptance.commands import ROOT, Commands, environment
from tests.store.worlds import World


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment that holds the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("wheel")
    _run(sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT))
    _run(sys.executable, "-m", "venv", str(folder / "venv"))
    (wheel,) = folder.glob("*.whl")
    _run(str(folder / "venv/bin/python"), "-m", "pip", "install", "--quiet", str(wheel))
    return folder / "venv/bin"


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


def _own(env: dict[str, str]) -> dict[str, str]:
    """Nothing of the checkout is on the path."""
    cache = os.environ.get("KGSCHED_CACHE", str(load_settings().cache))
    return {name: value for name, value in env.items() if name != "PYTHONPATH"} | {"KGSCHED_CACHE": cache}


@pytest.mark.timeout(600)
def test_the_demonstration_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    commands = Commands(_own(environment(HOME=str(tmp_path))), tmp_path, installed)
    told = commands.run("kgsched", "demo", patience=400).stdout
    assert "demoted" in told
    assert "article:scholarx:arxiv-" in told


@pytest.mark.timeout(600)
def test_the_feed_runs_from_the_wheel(
    installed: Path, neo4j_server: ServerAddress, world: World, tmp_path: Path
) -> None:
    with ArxivServer() as arxiv:
        feed = {f"KGSCHED_{name.upper()}": str(value) for name, value in arxiv.settings().items()}
        env = _own(environment(neo4j_server, HOME=str(tmp_path), **feed))
        commands = Commands(env, tmp_path, installed)
        with commands.daemon() as daemon:
            told = commands.run("kgsched", "schedules", "run-now", "research_feed", "--json").stdout
            assert json.loads(told)["result"]["graded"] > 0
            assert daemon.end() == 0
