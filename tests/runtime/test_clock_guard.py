"""When it is safe to reap. Instants: the monotonic clock in seconds, the server's in milliseconds."""

from __future__ import annotations

from kgsched.runtime.clock_guard import ClockGuard

LEASE = 300.0
EPOCH_MS = 1_800_000_000_000


def contact(guard: ClockGuard, at: float, jump_ms: int = 0) -> str | None:
    return guard.contact(EPOCH_MS + round(at * 1000) + jump_ms, at, at + 0.01)


def steady() -> ClockGuard:
    """A guard that has had contact each second for long."""
    guard = ClockGuard(LEASE)
    for second in range(400):
        contact(guard, float(second))
    return guard


def test_nobody_is_reaped_before_the_first_contact() -> None:
    assert not ClockGuard(LEASE).may_reap(10_000.0)


def test_nobody_is_reaped_for_one_lease_after_the_first_contact() -> None:
    guard = ClockGuard(LEASE)
    assert contact(guard, 0.0) == "first contact"
    for second in range(1, 299):
        assert contact(guard, float(second)) is None
        assert not guard.may_reap(float(second))
    contact(guard, 299.5)
    assert guard.may_reap(301.0)


def test_a_steady_clock_lets_the_reaper_work() -> None:
    assert steady().may_reap(400.0)


def test_nobody_is_reaped_while_the_server_is_away_and_for_one_lease_after_it() -> None:
    guard = steady()
    guard.failed()
    assert not guard.may_reap(400.0)
    assert contact(guard, 405.0) == "the server was away"
    assert not guard.may_reap(704.0)
    assert guard.may_reap(706.0)


def test_a_jump_of_the_servers_clock_forward_or_back_holds_the_reaper_for_one_lease() -> None:
    for jump_ms in (3_600_000, -3_600_000, 5_000):
        guard = steady()
        reason = contact(guard, 400.0, jump_ms)
        assert reason is not None
        assert "jumped" in reason
        assert contact(guard, 401.0, jump_ms) is None
        assert not guard.may_reap(699.0)
        assert guard.may_reap(701.0)


def test_a_slow_answer_is_no_jump() -> None:
    guard = steady()
    assert guard.contact(EPOCH_MS + 400_000, 400.0, 406.0) is None


def test_a_quick_answer_after_a_slow_one_is_no_jump() -> None:
    guard = steady()
    assert guard.contact(EPOCH_MS + 400_000, 400.0, 408.0) is None
    assert contact(guard, 409.0) is None


def test_a_slow_drift_is_no_jump() -> None:
    guard = steady()
    for second in range(400, 800):
        assert contact(guard, float(second), jump_ms=(second - 400) * 10) is None
    assert guard.may_reap(800.0)


def test_a_process_that_was_stopped_for_long_waits_for_one_lease() -> None:
    guard = steady()
    assert contact(guard, 500.0) == "no contact for 101 s"
    assert not guard.may_reap(700.0)
