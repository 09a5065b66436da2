"""Leases on the monotonic clock. Instants are seconds."""

from __future__ import annotations

from kgsched.core.task import Claim
from kgsched.runtime.leases import Leases


def claim(uid: str = "u", token: str = "t", lease: float = 300.0) -> Claim:
    return Claim(uid, uid, "default", "a", "ingestion", token, 1, 3, 1, 2, 0, 0, round(lease * 1000))


def held(*claims: Claim, at: float = 0.0, beat: float = 20.0) -> Leases:
    leases = Leases(beat)
    for one in claims:
        leases.add(one, at)
    return leases


def test_a_lease_counts_from_before_its_request_was_sent() -> None:
    one = claim()
    assert held(one, at=5.0).valid_until(one) == 305.0


def test_a_body_is_to_stop_before_its_lease_ends() -> None:
    long, short = claim("long"), claim("short", lease=2.0)
    assert held(long).next_stop() == 290.0
    assert held(short).next_stop() == 1.8
    leases = held(long, short)
    assert leases.expiring(1.7) == []
    assert leases.expiring(1.8) == [short]


def test_short_leases_beat_more_often() -> None:
    assert held(claim(lease=300.0)).next_beat() == 20.0
    assert held(claim(lease=2.0)).next_beat() == 0.5


def test_what_is_nearly_due_is_beaten_along() -> None:
    leases = Leases(20.0)
    for number, at in enumerate((0.0, 5.0, 19.0)):
        leases.add(claim(str(number)), at)
    assert [one.uid for one in leases.due(19.0)] == []
    assert [one.uid for one in leases.due(20.0)] == ["0", "1"]


def test_an_answered_beat_renews_and_an_older_answer_does_not_shorten() -> None:
    one = claim()
    leases = held(one)
    leases.renewed([one], 100.0)
    leases.renewed([one], 50.0)
    assert leases.valid_until(one) == 400.0


def test_a_paused_claim_is_not_beaten_but_known_and_watched() -> None:
    one = claim()
    leases = held(one)
    leases.pause(one)
    assert leases.due(1000.0) == []
    assert leases.next_beat() is None
    assert leases.known() == ["u"]
    assert leases.expiring(295.0) == [one]
    leases.resume(one)
    assert leases.due(1.0) == [one]


def test_an_older_token_changes_nothing() -> None:
    new, old = claim(token="new"), claim(token="old")
    leases = held(new)
    leases.drop(old)
    leases.pause(old)
    leases.renewed([old], 1000.0)
    assert not leases.give_up(old, 0.0)
    assert leases.valid_until(new) == 300.0
    assert leases.due(20.0) == [new]


def test_strangers_are_neither_held_nor_under_way_nor_given_up() -> None:
    one = claim()
    leases = held(one)
    leases.expect("coming")
    assert not leases.is_stranger("u", "t")
    assert not leases.is_stranger("other", "coming")
    leases.settled("coming")
    assert leases.is_stranger("other", "coming")
    assert leases.give_up(one, 0.0)
    assert not leases.is_stranger("u", "t")
    assert leases.is_stranger("v", "t")


def test_what_was_given_up_is_forgotten_in_time() -> None:
    leases = Leases(20.0)
    for number in range(100):
        one = claim(str(number), lease=2.0)
        leases.add(one, float(number))
        leases.give_up(one, float(number))
    assert leases.is_stranger("0", "t")
    assert not leases.is_stranger("99", "t")


def test_a_change_is_told() -> None:
    told: list[int] = []
    leases = Leases(20.0)
    leases.listen(lambda: told.append(1))
    leases.add(claim(), 0.0)
    leases.resume(claim())
    assert len(told) == 2
