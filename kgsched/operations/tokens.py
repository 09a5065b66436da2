"""Tokens: making, listing and revoking them, and finding out who presents one."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kgsched.core.access import ALL_SPACES, Caller, Door, Scope, Token, parse_scopes
from kgsched.core.limits import check_slug, check_text
from kgsched.core.times import parse_duration, show_instant
from kgsched.core.token_text import ID_LENGTH, SECRET_BYTES, same, tag_of, token_text, well_formed
from kgsched.errors import InvalidValue, NotFound, Unauthorized
from kgsched.operations.records import Record
from kgsched.ports import Store

DEFAULT_TTL = "90d"
LONGEST_MS = 10 * 366 * 86_400_000
LOCAL_USER = "local"


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was made. Its text is shown once and kept nowhere."""

    id: str
    text: str
    token: Token


class TokenOperations:
    """Tokens of all spaces."""

    def __init__(self, store: Store, key: Callable[[], bytes]) -> None:
        self._store, self._key = store, key

    async def create(
        self, name: str, *, space: str, scopes: Sequence[str], by: str, ttl: str | float = DEFAULT_TTL
    ) -> NewToken:
        """Make a token for one space, or `*` for all. Raises InvalidValue or UnknownName."""
        fields = {
            "name": check_text("name", name),
            "space": space if space == ALL_SPACES else check_slug("space", space),
            "scopes": sorted(parse_scopes(scopes, space)),
            "created_by": by,
        }
        ttl_ms = parse_duration(ttl, "ttl")
        if not 0 < ttl_ms <= LONGEST_MS:
            raise InvalidValue(f"ttl {ttl!r} is not between 1ms and ten years")
        text = token_text(secrets.token_bytes(SECRET_BYTES))
        tag = tag_of(text, self._key())
        token = await self._store.tokens.create({**fields, "tag": tag, "id": secrets.token_hex(ID_LENGTH // 2)}, ttl_ms)
        return NewToken(token.id, text, token)

    async def list_tokens(self) -> list[Record]:
        """All tokens, newest first, without what would let anybody in."""
        tokens, now = await self._store.tokens.list_tokens()
        return [token_record(one, now) for one in tokens]

    async def revoke(self, id_: str, by: str) -> Record:
        """Make a token count no more. Raises NotFound."""
        token = await self._store.tokens.revoke(check_text("id", id_), by)
        if token is None:
            raise NotFound(f"no token {id_!r}; `kgsched tokens list` shows their ids")
        return token_record(token, token.revoked_at or 0)


class Doorkeeper:
    """Finds out who asks, for doors that are open to others. Counts how tokens are used until `note_uses`."""

    def __init__(self, store: Store, key: bytes, *, default_space: str, require_token: bool) -> None:
        self._store, self._key = store, key
        self._default, self._require = default_space, require_token
        self._uses: Counter[str] = Counter()

    async def admit(self, presented: str | None, door: Door, *, trusted: bool, space: str | None = None) -> Caller:
        """The caller. `trusted`: without a token it may be the local user, as long as no token was ever made.

        Raises Unauthorized or Forbidden.
        """
        if presented is not None and not well_formed(presented):
            raise Unauthorized("this is no token of kgsched; they begin with kgs_", presented=True)
        tag = None if presented is None else tag_of(presented, self._key)
        token, found, made, now = await self._store.tokens.find(tag)
        if tag is None:
            if self._require or made or not trusted:
                raise Unauthorized("a token is needed: `kgsched tokens create` makes one", presented=False)
            return local_caller(door, space or self._default)
        if token is None or not same(found, tag) or not token.live(now):
            raise Unauthorized("the token is unknown, expired or revoked", presented=True)
        self._uses[token.id] += 1
        return token.caller(door, space, self._default)

    async def is_open(self) -> bool:
        """Whether the local user is let in without a token."""
        return not self._require and not (await self._store.tokens.find(None))[2]

    async def note_uses(self) -> None:
        """Write down how often tokens were used since the last time."""
        uses, self._uses = self._uses, Counter()
        if uses:
            try:
                await self._store.tokens.note_use(uses)
            except BaseException:
                self._uses.update(uses)
                raise


def local_caller(door: Door, space: str, name: str = LOCAL_USER) -> Caller:
    """The user of this machine, who may do everything."""
    return Caller(name, door, space, frozenset(Scope))


def token_record(token: Token, now: int) -> Record:
    """A token as surfaces show it."""
    state = "revoked" if token.revoked_at is not None else "live" if now < token.expires_at else "expired"
    return {
        "id": token.id,
        "name": token.name,
        "space": token.space,
        "scopes": sorted(token.scopes),
        "state": state,
        "created_at": show_instant(token.created_at),
        "created_by": token.created_by,
        "expires_at": show_instant(token.expires_at),
        "revoked_at": show_instant(token.revoked_at),
        "revoked_by": token.revoked_by,
        "last_used_at": show_instant(token.last_used_at),
        "uses": token.uses,
    }
