"""What an error means for its task."""

from __future__ import annotations

import json
import socket
import ssl
import urllib.error
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.message import Message
from typing import Any

import httpx
import pytest

from kgsched.core.classify import ErrorClass, Fate, classify
from kgsched.core.http_error import parse_retry_after
from kgsched.errors import (
    BudgetExceeded,
    Cancel,
    InvalidValue,
    LeaseConflict,
    Permanent,
    Retry,
    SecurityError,
    Snooze,
    StorageConflict,
    StorageConnectionError,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
REQUEST = httpx.Request("GET", "http://127.0.0.1/")


def fate(error: BaseException, **lists: Any) -> Fate:
    return classify(error, NOW, **lists).fate


def http(status: int, **headers: str) -> httpx.HTTPStatusError:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.HTTPStatusError("no", request=REQUEST, response=httpx.Response(status, headers=names))


def chained(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


class AuthFail(ConnectionError):
    pass


class Odd(Exception):
    pass


class Wordless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (Retry("later", after=7), ErrorClass(Fate.TRANSIENT, 7_000)),
        (Retry("later"), ErrorClass(Fate.TRANSIENT)),
        (Permanent("never"), ErrorClass(Fate.PERMANENT)),
        (Snooze(90), ErrorClass(Fate.SNOOZE, 90_000)),
        (Snooze(-5), ErrorClass(Fate.SNOOZE, 0)),
        (Snooze(timedelta(minutes=5)), ErrorClass(Fate.SNOOZE, 300_000)),
        (Snooze(Decimal("1.5")), ErrorClass(Fate.SNOOZE, 1_500)),
        (Retry(after=timedelta(days=7)), ErrorClass(Fate.TRANSIENT, 7 * 86_400_000)),
        (Cancel("pointless"), ErrorClass(Fate.CANCEL)),
    ],
)
def test_a_handlers_own_signal_decides(error: BaseException, expected: ErrorClass) -> None:
    assert classify(error, NOW) == expected
    assert classify(chained(error, TimeoutError()), NOW, permanent=(Exception,)) == expected


@pytest.mark.parametrize("after", [float("nan"), float("inf"), "5m", True, Decimal("NaN")])
def test_a_wait_that_is_none_is_the_handlers_mistake(after: Any) -> None:
    for signal in (lambda: Snooze(after), lambda: Retry(after=after)):
        with pytest.raises(InvalidValue, match="must be seconds or a timedelta"):
            signal()
    with pytest.raises(InvalidValue):
        Snooze(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "error",
    [
        ValueError(),
        TypeError(),
        AttributeError(),
        NameError(),
        ImportError(),
        AssertionError(),
        PermissionError(),
        json.JSONDecodeError("no", "", 0),
        SecurityError(),
        BudgetExceeded(),
        InvalidValue(),
        http(404),
        http(410),
        urllib.error.HTTPError("http://x", 404, "no", Message(), None),
    ],
)
def test_permanent_errors(error: BaseException) -> None:
    """RT06."""
    assert fate(error) is Fate.PERMANENT


@pytest.mark.parametrize(
    "error",
    [
        StorageConflict(),
        StorageConnectionError(),
        LeaseConflict(),
        ConnectionResetError(),
        BrokenPipeError(),
        TimeoutError(),
        socket.gaierror(),
        httpx.ConnectTimeout("slow"),
        httpx.RemoteProtocolError("cut"),
        http(408),
        http(425),
        http(429),
        http(500),
        http(503),
        Odd("anything"),
        MemoryError(),
        SystemExit(3),
        KeyboardInterrupt(),
    ],
)
def test_transient_errors(error: BaseException) -> None:
    assert fate(error) is Fate.TRANSIENT


def test_a_certificate_that_does_not_hold_is_permanent() -> None:
    assert fate(ssl.SSLCertVerificationError()) is Fate.PERMANENT


def test_a_types_own_lists_come_before_the_built_in_ones() -> None:
    """RT06: a permanent error stays one although its base class is transient."""
    assert fate(AuthFail(), permanent=(AuthFail,)) is Fate.PERMANENT
    assert fate(ValueError(), transient=(ValueError,)) is Fate.TRANSIENT


def test_in_a_types_own_lists_the_nearest_class_decides() -> None:
    assert fate(AuthFail(), permanent=(AuthFail,), transient=(ConnectionError,)) is Fate.PERMANENT
    assert fate(AuthFail(), permanent=(ConnectionError,), transient=(AuthFail,)) is Fate.TRANSIENT


def test_an_error_raised_from_a_transient_one_is_transient() -> None:
    assert fate(chained(Odd(), TimeoutError())) is Fate.TRANSIENT
    assert fate(chained(ValueError(), chained(Odd(), ConnectionResetError()))) is Fate.TRANSIENT
    assert fate(chained(ValueError(), KeyError())) is Fate.PERMANENT


def test_a_permanent_class_of_the_type_outweighs_a_transient_cause() -> None:
    assert fate(chained(Odd(), TimeoutError()), permanent=(Odd,)) is Fate.PERMANENT


def test_a_chain_that_bites_its_tail_comes_to_an_end() -> None:
    one, two = Odd(), Odd()
    one.__cause__, two.__cause__ = two, one
    assert fate(one) is Fate.TRANSIENT


@pytest.mark.parametrize(
    "text",
    [
        "write conflict on node",
        "This transaction can be retried",
        "temporarily unavailable",
        "timed out",
        "Rate limit exceeded",
        "Too Many Requests",
        "connection reset by peer",
        "Broken pipe",
    ],
)
def test_a_telling_message_makes_an_unlisted_class_transient(text: str) -> None:
    assert fate(httpx.HTTPStatusError(text, request=REQUEST, response=httpx.Response(403))) is Fate.TRANSIENT
    assert fate(ValueError(text)) is Fate.PERMANENT


def test_an_error_without_words_is_classified() -> None:
    assert fate(Wordless()) is Fate.TRANSIENT


def test_a_group_is_permanent_only_as_a_whole() -> None:
    assert fate(ExceptionGroup("both", [ValueError(), TypeError()])) is Fate.PERMANENT
    assert fate(ExceptionGroup("both", [ValueError(), TimeoutError()])) is Fate.TRANSIENT
    nested = ExceptionGroup("outer", [TimeoutError(), ExceptionGroup("inner", [Cancel("stop")])])
    assert fate(nested) is Fate.CANCEL


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("120", 120_000),
        (" 0 ", 0),
        ("1000000000", 10**12),
        ("9" * 400, 10**13),
        ("Fri, 02 Jan 2026 03:05:05 GMT", 60_000),
        ("Thu, 01 Jan 2026 00:00:00 GMT", 0),
        ("soon", None),
        ("", None),
        ("-5", None),
    ],
)
def test_retry_after_is_read_in_both_forms(value: str, expected: int | None) -> None:
    assert parse_retry_after(value, NOW) == expected


def test_the_wait_a_server_asks_for_is_found_also_on_the_cause() -> None:
    assert classify(http(429, retry_after="7"), NOW).after_ms == 7_000
    assert classify(chained(Odd(), http(503, retry_after="9")), NOW).after_ms == 9_000
    assert classify(http(503, retry_after="999999999"), NOW).after_ms == 24 * 3_600_000
    assert classify(http(503), NOW + timedelta(days=1)).after_ms is None
