"""Lines that a run logs about itself."""

from __future__ import annotations

from kgsched.runtime.run_log import KEPT_LINES, RunLog


class Mute:
    def __str__(self) -> str:
        raise SystemExit("no words")


def test_any_keyword_and_any_value_make_a_line() -> None:
    log = RunLog()
    log("parsed", line=12, self=1, values={"a": 1})
    log(Mute(), what=Mute())
    first, second = log.lines()
    assert first.endswith("s parsed line=12 self=1 values={'a': 1}")
    assert second.endswith("s <Mute> what=<Mute>")


def test_the_last_lines_are_kept() -> None:
    log = RunLog()
    for number in range(KEPT_LINES + 5):
        log(number)
    assert len(log.lines()) == KEPT_LINES
    assert log.lines()[-1].endswith(f" {KEPT_LINES + 4}")
