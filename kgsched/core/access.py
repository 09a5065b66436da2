"""Who may do what: scopes, and the caller that a door has recognised."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from kgsched.errors import Forbidden, InvalidValue, UnknownName

ALL_SPACES = "*"


class Scope(StrEnum):
    """What a token can be allowed. Nothing writes to the graph through a door, so there is no write:graph."""

    READ_TASK = "read:task"
    WRITE_TASK = "write:task"
    READ_WORK_ITEM = "read:work_item"
    WRITE_WORK_ITEM = "write:work_item"
    READ_SCHEDULE = "read:schedule"
    WRITE_SCHEDULE = "write:schedule"
    READ_GRAPH = "read:graph"
    READ_WORKER = "read:worker"
    WRITE_WORKER = "write:worker"
    READ_ADMIN = "read:admin"
    WRITE_ADMIN = "write:admin"


CLUSTER_WIDE = frozenset({Scope.READ_GRAPH, Scope.WRITE_WORKER, Scope.READ_ADMIN, Scope.WRITE_ADMIN})


class Door(StrEnum):
    """The way by which a request came."""

    REST = "rest"
    MCP = "mcp"
    CLI = "cli"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, by which door, in which space, with what rights. token: id of the token, None for the local user."""

    name: str
    door: Door
    space: str
    scopes: frozenset[Scope]
    token: str | None = None

    def need(self, scope: Scope) -> None:
        """Raises Forbidden, naming the scope, unless the caller has it."""
        if scope not in self.scopes:
            raise Forbidden(f"this needs the scope {scope}, which the token of {self.name!r} lacks", scope=scope)

    @property
    def by(self) -> str:
        """For the history of what was changed."""
        return f"{self.name} ({self.door})"


@dataclass(frozen=True, slots=True)
class Token:
    """What is known about a token; its text is known to nobody but its holder. Instants are epoch ms."""

    id: str
    name: str
    space: str
    scopes: frozenset[Scope]
    created_at: int
    created_by: str
    expires_at: int
    revoked_at: int | None = None
    revoked_by: str | None = None
    last_used_at: int | None = None
    uses: int = 0

    def live(self, now: int) -> bool:
        return self.revoked_at is None and now < self.expires_at

    def caller(self, door: Door, asked: str | None, default: str) -> Caller:
        """The caller in the space that is asked for; a token of all spaces may choose. Raises Forbidden."""
        if self.space == ALL_SPACES:
            return Caller(self.name, door, asked or default, self.scopes, self.id)
        if asked is not None and asked != self.space:
            raise Forbidden(f"the token of {self.name!r} is for space {self.space!r} alone")
        return Caller(self.name, door, self.space, self.scopes, self.id)


def parse_scopes(texts: Iterable[str], space: str) -> frozenset[Scope]:
    """Scopes of texts that may hold several, separated by commas or blanks.

    Raises UnknownName, or InvalidValue for none, and for one that reaches beyond the space.
    """
    words = [word for text in texts for word in text.replace(",", " ").split()]
    known = {one.value for one in Scope}
    for word in words:
        if word not in known:
            raise UnknownName("scope", word, known)
    scopes = frozenset(Scope(word) for word in words)
    if not scopes:
        raise InvalidValue(f"name at least one scope of {', '.join(sorted(known))}")
    beyond = sorted(scopes & CLUSTER_WIDE)
    if beyond and space != ALL_SPACES:
        raise InvalidValue(f"{', '.join(beyond)} need all spaces: they reach beyond one; give them with --space '*'")
    return scopes
