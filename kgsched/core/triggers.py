"""What makes a schedule due: a fixed interval, a cron expression in a zone, or one instant.

Each trigger has `next_after(ms)`, `latest_upto(ms)`, `upcoming(ms)`, a canonical `text` for `Schedule.trigger`, and
`describe()` for people. Slots are exact: they depend on nothing but the trigger.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from kgsched.core import cron_words
from kgsched.core.cron import DEFAULT_DST, Cron, Dst, parse_cron
from kgsched.core.times import MAX_INSTANT, parse_duration, parse_instant, show_duration, show_instant
from kgsched.errors import InvalidValue

MIN_INTERVAL = 1_000
MAX_INTERVAL = 100 * 366 * 86_400_000


@dataclass(frozen=True, slots=True)
class Every:
    """Each `interval_ms` after `anchor_ms`, the first time one interval after it. The phase never drifts."""

    kind: ClassVar[str] = "every"
    interval_ms: int
    anchor_ms: int = 0

    def __post_init__(self) -> None:
        if not MIN_INTERVAL <= self.interval_ms <= MAX_INTERVAL:
            raise InvalidValue(f"interval {show_duration(self.interval_ms)} is not between 1s and 100 years")

    @property
    def text(self) -> str:
        return f"every {show_duration(self.interval_ms)}"

    def next_after(self, instant: int) -> int | None:
        count = max((instant - self.anchor_ms) // self.interval_ms, 0) + 1
        slot = self.anchor_ms + count * self.interval_ms
        return slot if slot <= MAX_INSTANT else None

    def latest_upto(self, instant: int) -> int | None:
        count = (instant - self.anchor_ms) // self.interval_ms
        return self.anchor_ms + count * self.interval_ms if count >= 1 else None

    def upcoming(self, after: int) -> Iterator[int]:
        slot = self.next_after(after)
        while slot is not None:
            yield slot
            slot = self.next_after(slot)


@dataclass(frozen=True, slots=True)
class At:
    """One instant."""

    kind: ClassVar[str] = "at"
    instant_ms: int

    @property
    def text(self) -> str:
        return f"at {show_instant(self.instant_ms)}"

    def next_after(self, instant: int) -> int | None:
        return self.instant_ms if self.instant_ms > instant else None

    def latest_upto(self, instant: int) -> int | None:
        return self.instant_ms if self.instant_ms <= instant else None

    def upcoming(self, after: int) -> Iterator[int]:
        if self.instant_ms > after:
            yield self.instant_ms


Trigger = Every | Cron | At


def parse_trigger(text: str, timezone: str = "UTC", dst: Dst = DEFAULT_DST, *, anchor_ms: int = 0) -> Trigger:
    """The trigger of its text: `every 30m`, `cron 0 6 * * 1-5`, `at 2026-11-30T21:00:00Z`.

    anchor_ms: creation of the schedule; only intervals use it. Raises InvalidValue, or UnknownName for the zone.
    """
    kind, _, rest = text.strip().partition(" ")
    match kind:
        case "every":
            return Every(parse_duration(rest), anchor_ms)
        case "cron":
            return parse_cron(rest, timezone, dst)
        case "at":
            return At(parse_instant(rest)[0])
        case _:
            raise InvalidValue(f"trigger {text!r} must begin with 'every', 'cron' or 'at', like 'every 30m'")


def choose_trigger(
    *,
    every: str | int | float | None = None,
    cron: str | None = None,
    at: str | None = None,
    timezone: str | None = None,
    dst: Dst | None = None,
) -> Trigger:
    """The one trigger that a caller named. An interval that is a bare number is in seconds; its anchor is 0 here.

    Raises InvalidValue when none or more than one is given, or a zone or clock rules without cron.
    """
    given = [name for name, value in (("every", every), ("cron", cron), ("at", at)) if value is not None]
    if len(given) != 1:
        what = " and ".join(given) if given else "none"
        raise InvalidValue(f"give exactly one of every, cron and at, not {what}")
    if cron is not None:
        return parse_cron(cron, "UTC" if timezone is None else timezone, dst or DEFAULT_DST)
    for name, value in (("timezone", timezone), ("dst", dst)):
        if value is not None:
            raise InvalidValue(f"{name} only goes with cron, not with {given[0]}")
    return Every(parse_duration(every)) if every is not None else At(parse_instant(str(at))[0])


def anchored(trigger: Trigger, created_ms: int, start_ms: int | None) -> Trigger:
    """The trigger with its phase: an interval counts from creation, or fires first at `start` if there is one."""
    if not isinstance(trigger, Every):
        return trigger
    return replace(trigger, anchor_ms=created_ms if start_ms is None else start_ms - trigger.interval_ms)


def describe(trigger: Trigger) -> str:
    """In plain words, with the zone: `at 06:00 on mon-fri, Europe/Paris`."""
    match trigger:
        case Cron(fields=fields):
            return f"{cron_words.describe(fields)}, {trigger.timezone}"
        case Every() | At():
            return trigger.text


def jitter_offset(space: str, name: str, slot: int, jitter_ms: int) -> int:
    """Milliseconds from 0 to `jitter_ms`, the same for a slot in every process."""
    if jitter_ms <= 0:
        return 0
    digest = hashlib.sha256(f"{space}\0{name}\0{slot}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % (jitter_ms + 1)
