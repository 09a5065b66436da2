"""Settings: what is refused, and what an empty variable means."""

from __future__ import annotations

import pytest

from kgsched.config import load_settings
from kgsched.errors import InvalidValue


@pytest.mark.parametrize("value", ["inf", "nan", "0", "-1", "soon"])
def test_a_lease_that_is_no_positive_number_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("KGSCHED_LEASE", value)
    with pytest.raises(InvalidValue, match="KGSCHED_LEASE"):
        load_settings()


def test_a_beat_that_is_not_below_a_third_of_the_lease_is_refused() -> None:
    with pytest.raises(InvalidValue, match="KGSCHED_BEAT"):
        load_settings(lease=30, beat=10)


def test_an_empty_variable_is_an_unset_one(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = load_settings().home
    monkeypatch.setenv("KGSCHED_HOME", "")
    monkeypatch.setenv("KGSCHED_LEASE", "")
    assert load_settings().home == usual
