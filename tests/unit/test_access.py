"""Scopes, callers and the text of tokens."""

from __future__ import annotations

import pytest

from kgsched.core.access import CLUSTER_WIDE, Door, Scope, Token, parse_scopes
from kgsched.core.token_text import same, tag_of, token_text, well_formed
from kgsched.errors import Forbidden, InvalidValue, UnknownName


def token(space: str, *scopes: Scope, expires_at: int = 1000, revoked_at: int | None = None) -> Token:
    return Token("id", "ada", space, frozenset(scopes), 0, "somebody", expires_at, revoked_at)


def test_scopes_are_read_from_words_and_lists() -> None:
    assert parse_scopes(["read:task,write:task", "read:schedule"], "a") == {
        Scope.READ_TASK,
        Scope.WRITE_TASK,
        Scope.READ_SCHEDULE,
    }
    with pytest.raises(UnknownName, match="did you mean 'read:task'"):
        parse_scopes(["read:tasks"], "a")
    with pytest.raises(InvalidValue, match="at least one"):
        parse_scopes([" , "], "a")


@pytest.mark.parametrize("scope", sorted(CLUSTER_WIDE))
def test_what_reaches_beyond_a_space_needs_all_of_them(scope: Scope) -> None:
    with pytest.raises(InvalidValue, match="need all spaces"):
        parse_scopes([scope], "a")
    assert parse_scopes([scope], "*") == {scope}


def test_a_caller_has_the_rights_of_its_token_and_no_more() -> None:
    caller = token("a", Scope.READ_TASK).caller(Door.MCP, None, "default")
    assert (caller.space, caller.by) == ("a", "ada (mcp)")
    caller.need(Scope.READ_TASK)
    with pytest.raises(Forbidden, match="write:task") as refused:
        caller.need(Scope.WRITE_TASK)
    assert refused.value.scope == "write:task"


def test_only_a_token_of_all_spaces_chooses() -> None:
    assert token("*").caller(Door.REST, "b", "default").space == "b"
    assert token("*").caller(Door.REST, None, "default").space == "default"
    assert token("a").caller(Door.REST, "a", "default").space == "a"
    with pytest.raises(Forbidden, match="for space 'a' alone"):
        token("a").caller(Door.REST, "b", "default")


def test_a_token_counts_until_it_expires_or_is_revoked() -> None:
    assert token("a").live(999)
    assert not token("a").live(1000)
    assert not token("a", revoked_at=5).live(10)


def test_a_tag_depends_on_the_token_and_on_the_key() -> None:
    text = token_text(bytes(range(32)))
    assert well_formed(text)
    assert not any(map(well_formed, ("", "kgs_", text[:-1], text + "x", text + "\n", f" {text}", text.upper())))
    tags = {tag_of(text, b"one"), tag_of(text, b"two"), tag_of(text[:-1] + "0", b"one")}
    assert len(tags) == 3
    assert same(tag_of(text, b"one"), tag_of(text, b"one"))
