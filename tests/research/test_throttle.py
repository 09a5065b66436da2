"""Turns to ask arXiv, on a clock of the test's own."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from kgsched.research.throttle import HeldOff, Throttle, is_loopback
from kgsched.research.turnstile import Turnstile

ARXIV = "https://export.arxiv.org/pdf/2609.00004"


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_turns_are_three_seconds_apart_and_one_at_a_time() -> None:
    clock = Clock()
    throttle = Throttle(3.0, clock)
    assert throttle.take() == 0.0
    clock.now += 3.0
    assert throttle.take() > 0.0, "the first turn is still held"
    throttle.give_back()
    assert throttle.take() == 0.0
    throttle.give_back()
    clock.now += 1.0
    assert throttle.take() == pytest.approx(2.0)


def test_a_pause_that_arxiv_asks_for_is_kept_and_told() -> None:
    clock = Clock()
    throttle = Throttle(3.0, clock)
    throttle.hold_off(ARXIV, 60.0)
    throttle.hold_off(ARXIV, 5.0)
    clock.now += 20.0
    with pytest.raises(HeldOff) as pause:
        throttle.take()
    assert pause.value.after == pytest.approx(40.0)
    clock.now += 40.0
    assert throttle.take() == 0.0


def test_processes_of_one_machine_share_the_pace(tmp_path: Path) -> None:
    clock = Clock()
    one, other = (Throttle(3.0, clock, Turnstile(tmp_path / "turn", clock)) for _ in range(2))
    assert one.take() == 0.0
    clock.now += 3.0
    assert other.take() > 0.0, "the first one still asks"
    one.give_back()
    assert other.take() == 0.0
    other.give_back()
    clock.now += 1.0
    assert one.take() == pytest.approx(2.0)


def test_a_pause_survives_a_restart(tmp_path: Path) -> None:
    clock = Clock()
    Throttle(3.0, clock, Turnstile(tmp_path / "turn", clock)).hold_off(ARXIV, 3600.0)
    clock.now += 600.0
    restarted = Throttle(3.0, clock, Turnstile(tmp_path / "turn", clock))
    with pytest.raises(HeldOff) as pause:
        restarted.take()
    assert pause.value.after == pytest.approx(3000.0)
    clock.now += 3000.0
    assert restarted.take() == 0.0
    restarted.give_back()


def test_a_process_that_dies_gives_its_turn_back(tmp_path: Path) -> None:
    path = tmp_path / "turn"
    code = (
        "import sys; from pathlib import Path; from kgsched.research.turnstile import Turnstile; "
        f"t = Turnstile(Path({str(path)!r})); print(t.take(3.0), flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": ":".join(sys.path)},
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"0.0\n"
        turnstile = Turnstile(path, lambda: time.time() + 10)
        assert turnstile.take(3.0) is None
        child.kill()
        child.wait()
        assert turnstile.take(3.0) == 0.0
        turnstile.give_back()


@pytest.mark.parametrize("text", ["", "nonsense", '{"begun": "x"}', '{"begun": 9e99, "until": 9e99}'])
def test_a_broken_file_stops_nobody(tmp_path: Path, text: str) -> None:
    (tmp_path / "turn").write_text(text)
    throttle = Throttle(3.0, Clock(), Turnstile(tmp_path / "turn", Clock()))
    assert throttle.take() == 0.0
    throttle.give_back()


def test_a_folder_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    throttle = Throttle(3.0, Clock(), Turnstile(tmp_path / "file" / "turn"))
    assert throttle.take() == 0.0
    throttle.give_back()


async def test_loopback_is_not_limited() -> None:
    throttle = Throttle(3.0, Clock())
    throttle.hold_off("http://127.0.0.1:1/rss", 60.0)
    async with throttle.turn("http://127.0.0.1:1/rss"), throttle.turn("http://localhost/"):
        assert throttle.take() == 0.0


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.9.0.1/", True),
        ("http://[::1]:80/", True),
        ("http://localhost/", True),
        (ARXIV, False),
        ("x", False),
    ],
)
def test_loopback_is_told_by_its_host(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected
    assert not is_loopback("http://127.0.0.1.example.org/")
