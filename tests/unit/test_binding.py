"""How a handler gets its arguments."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from kgsched.core.binding import bind, parse_payload
from kgsched.errors import InvalidValue, Permanent
from kgsched.registry import TaskType
from kgsched.runtime.context import TaskContext

CTX = object()


async def only_context(ctx: object) -> None: ...


async def named(ctx: object, paper: str, pages: int = 3) -> None: ...


async def keyword_only(ctx: object, *, paper: str) -> None: ...


async def anything(ctx: object, **payload: Any) -> None: ...


async def prepared(prefix: str, ctx: object, paper: str) -> None: ...


def nothing() -> None: ...


class Handlers:
    async def method(self, ctx: object, paper: str) -> None: ...


def test_a_handler_with_one_parameter_gets_the_context_only() -> None:
    assert bind("a", only_context, CTX, {"paper": "p"}) == ((CTX,), {})
    assert bind("a", only_context, CTX, ["any", "payload"]) == ((CTX,), {})


def test_a_handler_gets_what_it_declares_by_name() -> None:
    assert bind("a", named, CTX, {"paper": "p", "pages": 5}) == ((CTX, "p", 5), {})
    assert bind("a", named, CTX, {"paper": "p"}) == ((CTX, "p"), {})
    assert bind("a", keyword_only, CTX, {"paper": "p"}) == ((CTX,), {"paper": "p"})
    assert bind("a", anything, CTX, {"x": 1}) == ((CTX,), {"x": 1})
    assert bind("a", Handlers().method, CTX, {"paper": "p"}) == ((CTX, "p"), {})
    assert bind("a", partial(prepared, "x"), CTX, {"paper": "p"}) == ((CTX, "p"), {})


def test_a_handler_that_takes_no_context_gets_the_payload_alone() -> None:
    def double(n: int) -> int:
        return 2 * n

    def typed(anything_at_all: TaskContext, n: int) -> None: ...

    assert bind("a", double, CTX, {"n": 2}) == ((2,), {})
    assert bind("a", typed, CTX, {"n": 2}) == ((CTX, 2), {})
    with pytest.raises(Permanent, match="missing a required argument: 'n'"):
        bind("a", double, CTX, {})


def test_a_plain_function_runs_in_a_thread_unless_said_otherwise() -> None:
    def plain(ctx: object) -> None: ...

    assert TaskType("plain", plain).executor == "thread"
    assert TaskType("plain", plain, executor="process").executor == "process"
    assert TaskType("named", named).executor == "async"
    with pytest.raises(InvalidValue, match="would block all others"):
        TaskType("plain", plain, executor="async")


def test_a_handler_without_parameters_gets_none() -> None:
    assert bind("a", nothing, CTX, {"x": 1}) == ((), {})


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ({}, "missing a required argument: 'paper'; its payload has nothing"),
        ({"paper": "p", "papr": 1}, "unexpected keyword argument 'papr'"),
        ({"ctx": 1, "paper": "p"}, "multiple values for argument 'ctx'"),
        (["p"], "must be a JSON object"),
        (None, "must be a JSON object"),
    ],
)
def test_a_payload_that_does_not_fit_is_a_permanent_error_that_names_the_argument(payload: Any, words: str) -> None:
    with pytest.raises(Permanent, match="task type 'a'") as caught:
        bind("a", named, CTX, payload)
    assert words in str(caught.value)


def test_a_payload_that_is_not_json_is_a_permanent_error() -> None:
    with pytest.raises(Permanent, match="not JSON"):
        parse_payload("a", "{")
    assert parse_payload("a", None) == {}
