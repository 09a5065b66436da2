"""Tokens: nodes that know a tag of each token, never the token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kgsched.core.access import Scope, Token
from kgsched.store.client import Client


class Tokens:
    """Methods are the statements of the same name under cypher/tokens/."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def create(self, fields: Mapping[str, Any], ttl_ms: int) -> Token:
        rows = await self._client.run("tokens/create", fields=dict(fields), ttl_ms=ttl_ms)
        return _token(rows[0]["token"])

    async def find(self, tag: str | None) -> tuple[Token | None, str, bool, int]:
        """The token, its tag, whether any token was ever made, and the database's now."""
        row = (await self._client.run("tokens/find", tag=tag))[0]
        token = None if row["token"] is None else _token(row["token"])
        return token, row["tag"] or "", bool(row["made"]), row["now"]

    async def list_tokens(self) -> tuple[list[Token], int]:
        """All tokens, newest first, and the database's now."""
        rows = await self._client.run("tokens/list")
        return [_token(row["token"]) for row in rows], rows[0]["now"] if rows else 0

    async def revoke(self, id_: str, by: str) -> Token | None:
        rows = await self._client.run("tokens/revoke", id=id_, by=by)
        return _token(rows[0]["token"]) if rows else None

    async def note_use(self, uses: Mapping[str, int]) -> None:
        await self._client.run("tokens/note_use", rows=[{"id": id_, "uses": n} for id_, n in uses.items()])


def _token(row: Mapping[str, Any]) -> Token:
    known = {scope.value for scope in Scope}
    return Token(**{**row, "scopes": frozenset(Scope(one) for one in row["scopes"] if one in known)})
