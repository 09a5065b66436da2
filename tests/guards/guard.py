"""A guard: a line of a statement, what it is to be without it, and the promise that then breaks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from kgsched.store.queries import Statement, statement
from tests.store.worlds import World

Promise = Callable[[World], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Guard:
    """`line` stands in the statement as sent; `instead` takes its place. `promise` plays a scene on an empty graph."""

    promise: Promise
    statement: str
    line: str
    instead: str = ""

    def __str__(self) -> str:
        return self.promise.__name__.removeprefix("a_").replace("_", "-")

    def removed(self) -> Statement:
        """The statement without the guard."""
        whole = statement(self.statement)
        assert self.line in whole.text, f"cypher/{self.statement}.cypher no longer has {self.line!r}"
        return replace(whole, text=whole.text.replace(self.line, self.instead))
