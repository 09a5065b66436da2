"""What this process holds: claims with their leases, on the monotonic clock, shared by the control and beat threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kgsched.core.task import Claim

MAX_MARGIN = 10.0
MIN_MARGIN = 0.2
BEATS_PER_LEASE = 4


@dataclass(slots=True)
class Held:
    """A claim, when its lease ends at the earliest, and when it is to be beaten next."""

    claim: Claim
    valid_until: float
    next_beat: float
    interval: float
    paused: bool = False

    @property
    def stop_at(self) -> float:
        """When the body must stop unless a beat is answered before."""
        lease = self.claim.lease_ms / 1000
        return self.valid_until - min(MAX_MARGIN, max(MIN_MARGIN, lease / 10))


class Leases:
    """Thread-safe. Instants are seconds of the monotonic clock; a lease counts from before its request was sent.

    `by_type` holds the pauses between beats of types that have their own; the others take `beat`, or a quarter of
    their lease if that is shorter.
    """

    def __init__(self, beat: float, by_type: Mapping[str, float] = MappingProxyType({})) -> None:
        self._beat, self._by_type = beat, by_type
        self._on_change: Callable[[], None] = lambda: None
        self._lock = threading.Lock()
        self._held: dict[str, Held] = {}
        self._under_way: set[str] = set()
        self._given_up: dict[tuple[str, str], float] = {}

    def listen(self, on_change: Callable[[], None]) -> None:
        """Call `on_change` whenever a beat may be due earlier than before."""
        self._on_change = on_change

    def expect(self, token: str) -> None:
        """A claim under this token is under way: what runs under it is no stranger."""
        with self._lock:
            self._under_way.add(token)

    def settled(self, token: str) -> None:
        with self._lock:
            self._under_way.discard(token)

    def add(self, claim: Claim, sent_at: float) -> None:
        lease = claim.lease_ms / 1000
        interval = self._by_type.get(claim.type) or min(self._beat, lease / BEATS_PER_LEASE)
        with self._lock:
            self._held[claim.uid] = Held(claim, sent_at + lease, sent_at + interval, interval)
        self._on_change()

    def drop(self, claim: Claim) -> None:
        with self._lock:
            if self._is_held(claim):
                del self._held[claim.uid]

    def give_up(self, claim: Claim, now: float) -> bool:
        """Forget a lost claim; what its body still does is its own affair. False if it was not held any more."""
        with self._lock:
            held = self._is_held(claim)
            if held:
                del self._held[claim.uid]
                self._given_up[claim.uid, claim.token] = now + 10 * claim.lease_ms / 1000
            self._given_up = {key: until for key, until in self._given_up.items() if until > now}
            return held

    def pause(self, claim: Claim) -> None:
        """Take a claim out of the beats while its finishing transaction is open."""
        with self._lock:
            if self._is_held(claim):
                self._held[claim.uid].paused = True

    def resume(self, claim: Claim) -> None:
        with self._lock:
            if self._is_held(claim):
                self._held[claim.uid].paused = False
                self._held[claim.uid].next_beat = 0.0
        self._on_change()

    def renewed(self, claims: Iterable[Claim], sent_at: float, lease: float | None = None) -> None:
        """The leases of `claims` count anew from `sent_at`, for `lease` seconds if given."""
        with self._lock:
            for claim in claims:
                if self._is_held(claim):
                    held = self._held[claim.uid]
                    until = sent_at + (claim.lease_ms / 1000 if lease is None else lease)
                    held.valid_until = max(held.valid_until, until)
                    held.next_beat = sent_at + held.interval

    def due(self, now: float) -> list[Claim]:
        """Claims to beat now: those due, and those due within half of their interval, to save requests."""
        with self._lock:
            held = [one for one in self._held.values() if not one.paused]
            if not any(one.next_beat <= now for one in held):
                return []
            return [one.claim for one in held if one.next_beat <= now + one.interval / 2]

    def expiring(self, now: float) -> list[Claim]:
        with self._lock:
            return [one.claim for one in self._held.values() if one.stop_at <= now]

    def next_beat(self) -> float | None:
        with self._lock:
            return min((one.next_beat for one in self._held.values() if not one.paused), default=None)

    def next_stop(self) -> float | None:
        with self._lock:
            return min((one.stop_at for one in self._held.values()), default=None)

    def valid_until(self, claim: Claim) -> float | None:
        with self._lock:
            return self._held[claim.uid].valid_until if self._is_held(claim) else None

    def find(self, uid: str, token: str) -> Claim | None:
        """The claim that is held under this token, unless its finishing transaction is open."""
        with self._lock:
            held = self._held.get(uid)
            return None if held is None or held.paused or held.claim.token != token else held.claim

    def known(self) -> list[str]:
        with self._lock:
            return sorted(self._held)

    def is_stranger(self, uid: str, token: str) -> bool:
        with self._lock:
            if token in self._under_way or (uid, token) in self._given_up:
                return False
            return uid not in self._held

    def __len__(self) -> int:
        with self._lock:
            return len(self._held)

    def _is_held(self, claim: Claim) -> bool:
        held = self._held.get(claim.uid)
        return held is not None and held.claim.token == claim.token
