"""The examples of README and of the documents do what is said of them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.commands import ROOT, Commands

EXAMPLE = re.compile(r"<!-- example -->\n```python\n(.*?)```", re.S)
PRINTS = re.compile(r"[Ii]t prints `([^`]+)`")


def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["README.md", "docs/handlers.md"])
def test_an_example_prints_what_is_said_of_it(commands: Commands, tmp_path: Path, page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    code, prints = EXAMPLE.search(text), PRINTS.search(text)
    assert code is not None
    assert prints is not None
    script = tmp_path / "example.py"
    script.write_text(code[1], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], env=commands.env, text=True, capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [prints[1]]


def test_the_readme_names_only_files_that_are_there() -> None:
    links = re.findall(r"\]\(([\w/.]+\.md)\)", readme())
    assert links
    assert [link for link in links if not (ROOT / link).is_file()] == []
