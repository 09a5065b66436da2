"""From what a body returned or raised to an outcome that can always be recorded."""

from __future__ import annotations

import gc
import weakref

import pytest

from kgsched.core.limits import MAX_JSON_BYTES
from kgsched.core.outcome import Cancelled, Completed, Failed, Snoozed
from kgsched.core.printable import MAX_MESSAGE, MAX_TRACEBACK, printable
from kgsched.errors import Cancel, Permanent, Retry, Snooze
from kgsched.runtime.outcomes import completed, describe, raised

SLACK = 100


class Wordless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def caught(error: BaseException, cause: BaseException | None = None) -> BaseException:
    """The error as it looks after it was raised here."""
    try:
        raise error from cause
    except BaseException as one:  # noqa: BLE001 - whatever was raised
        return one


def test_json_is_kept_as_text() -> None:
    assert completed("a", {"n": 1, "é": [None]}) == Completed('{"n":1,"é":[null]}')
    assert completed("a", None) == Completed(None)


@pytest.mark.parametrize("value", [object(), {1, 2}, float("nan"), "\ud800", "x" * MAX_JSON_BYTES, {(1, 2): 3}])
def test_a_result_that_cannot_be_kept_is_a_permanent_failure(value: object) -> None:
    outcome = completed("a", value)
    assert isinstance(outcome, Failed)
    assert not outcome.transient
    assert "result of task type 'a'" in outcome.error.message


def test_signals_of_a_handler() -> None:
    assert raised(Snooze(2, "early")) == Snoozed(2_000, "early")
    assert raised(Cancel("pointless")) == Cancelled("pointless")
    later, never = raised(Retry("later", after=3)), raised(Permanent("never"))
    assert isinstance(later, Failed)
    assert (later.transient, later.after_ms, later.error.message) == (True, 3_000, "later")
    assert isinstance(never, Failed)
    assert not never.transient
    assert never.error.traceback is None


@pytest.mark.parametrize("text", ["\x00", "\ud800", "\x1b[31m", "\x07", "\u2028", "\x85"])
def test_error_text_is_always_printable(text: str) -> None:
    error = describe(caught(OSError(f"before{text}after")))
    for part in (error.message, error.traceback or ""):
        part.encode("utf-8")
        assert text not in part


def test_error_text_is_bounded_and_the_innermost_frame_is_kept() -> None:
    error = describe(caught(OSError("x" * 10_000_000)))
    assert len(error.message) <= MAX_MESSAGE + SLACK
    assert error.traceback is not None
    assert len(error.traceback) <= MAX_TRACEBACK + SLACK
    assert "in caught" in error.traceback


def test_a_deep_recursion_is_described() -> None:
    def deeper(n: int) -> int:
        return deeper(n + 1)

    with pytest.raises(RecursionError) as error:
        deeper(0)
    assert len(describe(error.value).traceback or "") <= MAX_TRACEBACK + SLACK


def test_an_error_without_words_is_described_by_its_class() -> None:
    assert describe(caught(Wordless())).message.startswith("Wordless")
    assert describe(caught(MemoryError())).message == "MemoryError"


def test_causes_and_members_are_part_of_the_traceback() -> None:
    error = describe(caught(OSError("outer"), caught(KeyError("inner"))))
    assert "KeyError: 'inner'" in (error.traceback or "")
    group = describe(caught(ExceptionGroup("some", [caught(OSError("member"))])))
    assert "OSError: member" in (group.traceback or "")


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), MemoryError(), GeneratorExit()])
def test_even_exits_have_an_outcome(error: BaseException) -> None:
    outcome = raised(caught(error))
    assert isinstance(outcome, Failed)
    assert outcome.error.kind == type(error).__name__


def test_nothing_of_the_error_is_kept() -> None:
    class Own(Exception):
        pass

    error = caught(Own("gone"))
    watch = weakref.ref(error)
    outcome = raised(error)
    del error
    gc.collect()
    assert isinstance(outcome, Failed)
    assert watch() is None


def test_printable_keeps_lines_and_tabs() -> None:
    assert printable("a\n\tb", 10) == "a\n\tb"
    assert printable("abcdef", 3) == "abc… (3 characters cut)"
