"""One entry of the schedules file.

It says when (`every`, `cron` with `timezone` and `dst`, or `at`) and what (`job` for a built-in, else `type` and
`payload`); all else has a default.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, TypeVar

import yaml

from kgsched.core.cron import Cron, Dst, Fold, Gap, parse_cron
from kgsched.core.cron_fields import parse_fields
from kgsched.core.desired import BUILT_IN_TYPE, DesiredSchedule
from kgsched.core.limits import MAX_KEY, check_slug, check_text, to_json
from kgsched.core.priority import NORMAL, parse_priority
from kgsched.core.schedule import CatchUp, Overlap
from kgsched.core.times import parse_duration, parse_instant
from kgsched.core.triggers import At, Every, Trigger
from kgsched.core.zones import find_zone
from kgsched.errors import InvalidValue, UnknownName, UsageError
from kgsched.operations.yaml_source import Source

_WHEN = ("every", "cron", "at")
_WHAT = ("job", "type", "payload")
_BOUNDS = ("timezone", "dst", "start", "end", "jitter")
_HOW = ("priority", "enabled", "overlap", "catch_up", "catch_up_window", "pause_after_failures", "description")
KEYS = (*_WHEN, *_BOUNDS, *_WHAT, *_HOW)
_SWITCH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)


def read_entry(
    source: Source, key: yaml.Node, value: yaml.Node, jobs: Collection[str] | None
) -> DesiredSchedule | None:
    """The schedule of an entry; None when it has mistakes, which are then in the source."""
    name = str(key.value)
    before = len(source.problems)
    try:
        check_slug("schedule name", name)
    except InvalidValue as error:
        source.problem(key, str(error))
    if not isinstance(value, yaml.MappingNode):
        source.problem(key, f"{name}: must hold keys like 'every: 30m' and 'job: …'")
        return None
    reader = _Reader(source, name, key, value)
    fields = _when(reader) | _what(reader, jobs) | _how(reader)
    if len(source.problems) > before:
        return None
    return DesiredSchedule(name=name, line=key.start_mark.line + 1, notes=tuple(reader.notes), **fields)


def unknown_key(name: str, known: Collection[str], where: str) -> str:
    """The message for a key that does not exist, with the nearest one that does."""
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
    return f"{where}unknown key {name!r}; {hint}"


def _when(reader: _Reader) -> dict[str, Any]:
    given = [key for key in _WHEN if reader.has(key)]
    if len(given) != 1:
        reader.wrong(None, f"give exactly one of {', '.join(_WHEN)}, not {' and '.join(given) or 'none'}")
    readers: dict[str, Callable[[], Trigger | None]] = {
        "every": lambda: reader.get("every", lambda value: Every(parse_duration(value))),
        "cron": lambda: _cron(reader),
        "at": lambda: None if (at := reader.instant("at")) is None else At(at),
    }
    triggers = [readers[key]() for key in given]
    for key in ("timezone", "dst"):
        if given and "cron" not in given and reader.has(key):
            reader.wrong(key, f"only goes with cron, not with {given[0]}")
    trigger = triggers[0] if triggers else None
    start, end = reader.instant("start"), reader.instant("end")
    if start is not None and end is not None and end <= start:
        reader.wrong("end", "must be after start")
    jitter = reader.get("jitter", parse_duration) or 0
    if isinstance(trigger, Every) and jitter >= trigger.interval_ms:
        reader.wrong("jitter", "must be shorter than the interval")
    fields: dict[str, Any] = {"start": start, "end": end, "jitter_ms": jitter}
    if isinstance(trigger, Cron):
        fields |= {"timezone": trigger.timezone, "dst_gap": trigger.dst.gap.value, "dst_fold": trigger.dst.fold.value}
    return fields | ({} if trigger is None else {"trigger": trigger.text})


def _cron(reader: _Reader) -> Cron | None:
    fields = reader.get("cron", lambda value: parse_fields(_text(value)))
    zone = reader.get("timezone", find_zone)
    dst = _dst(reader)
    if fields is None or dst is None or (zone is None and reader.has("timezone")):
        return None
    return reader.get("cron", lambda _: parse_cron(fields.text, zone.key if zone else "UTC", dst))


def _dst(reader: _Reader) -> Dst | None:
    rules = reader.keys_of("dst", ("gap", "fold"))
    if rules is None:
        return None
    gap, fold = rules.choice("gap", Gap, Gap.RUN_AFTER), rules.choice("fold", Fold, Fold.FIRST)
    return Dst(gap, fold)


def _what(reader: _Reader, jobs: Collection[str] | None) -> dict[str, Any]:
    if reader.has("job") == reader.has("type"):
        given = "both" if reader.has("job") else "none"
        reader.wrong(None, f"give either job (a built-in) or type (of your own tasks), not {given}")
    if reader.has("job") and reader.has("payload"):
        reader.wrong("payload", "goes with type; a built-in job takes none")
    job = reader.get("job", lambda value: _known_job(_text(value), jobs))
    if job is not None:
        return {"type": BUILT_IN_TYPE, "payload": to_json("payload", {"job": job})}
    return {"type": reader.get("type", lambda value: check_text("type", value)), "payload": reader.json("payload")}


def _how(reader: _Reader) -> dict[str, Any]:
    catch_up = reader.choice("catch_up", CatchUp, CatchUp.LATEST)
    if catch_up is not CatchUp.ALL and reader.has("catch_up_window"):
        reader.wrong("catch_up_window", "only goes with catch_up: all")
    priority, enabled = reader.get("priority", parse_priority), reader.switch("enabled")
    return {
        "prio_bucket": NORMAL if priority is None else priority,
        "enabled": enabled is not False,
        "overlap": reader.choice("overlap", Overlap, Overlap.COALESCE).value,
        "catch_up": catch_up.value,
        "catch_up_window_ms": reader.get("catch_up_window", parse_duration),
        "pause_after_failures": reader.get("pause_after_failures", _count),
        "description": reader.get("description", lambda value: check_text("description", value, MAX_KEY)),
    }


class _Reader:
    """The keys of an entry. Mistakes go to the source, with the entry's name and the line of the value."""

    def __init__(
        self, source: Source, name: str, key: yaml.Node, value: yaml.MappingNode, known: Collection[str] = KEYS
    ) -> None:
        self._source, self._name, self._key = source, name, key
        self._nodes = source.mapping(value, name)
        self.notes: list[str] = []
        for unknown in self._nodes:
            if unknown not in known:
                source.problem(self._nodes[unknown][0], unknown_key(unknown, known, f"{name}: "))

    def has(self, key: str) -> bool:
        return key in self._nodes

    def wrong(self, key: str | None, text: str, joint: str = " ") -> None:
        """Note a mistake in the value of a key, or in the whole entry."""
        if key is None:
            self._source.problem(self._key, f"{self._name}: {text}")
            return
        at, node = self._nodes[key]
        title = "" if text.startswith(key) else f"{key}{joint}"
        self._source.problem(node, f"{self._name}: {title}{text}", at)

    def get(self, key: str, parse: Callable[[Any], T]) -> T | None:
        """The parsed value of a key; None when it is not given, or wrong."""
        if not self.has(key):
            return None
        node = self._nodes[key][1]
        if not isinstance(node, yaml.ScalarNode):
            self.wrong(key, "must be one value, not a list or keys of its own")
            return None
        value = self._source.plain(node, f"{self._name}: {key}")
        if value is None or value == "":
            self.wrong(key, "is empty; give a value or remove the key")
            return None
        try:
            return parse(value)
        except UsageError as error:
            self.wrong(key, str(error), ": ")
            return None

    def choice(self, key: str, kind: type[E], default: E) -> E:
        def parse(value: Any) -> E:
            if value not in list(kind):
                raise InvalidValue(f"{value!r} is not one of {', '.join(kind)}")
            return kind(value)

        return self.get(key, parse) or default

    def switch(self, key: str) -> bool | None:
        """True or false; the text of a variable may also be 1, 0, yes, no, on or off."""

        def parse(value: Any) -> bool:
            text = str(value).strip().lower()
            if isinstance(value, bool) or (self._source.variable(self._nodes[key][1]) and text in _SWITCH):
                return _SWITCH[text]
            raise InvalidValue(f"{value!r} is not true or false")

        return self.get(key, parse)

    def instant(self, key: str) -> int | None:
        def parse(value: Any) -> int:
            millis, naive = parse_instant(str(value))
            if naive:
                self.notes.append(f"{self._name}: {key} {value} has no offset and was read as UTC")
            return millis

        return self.get(key, parse)

    def keys_of(self, key: str, known: Collection[str]) -> _Reader | None:
        """A reader of the keys below a key; an empty one when it is not given, None when it holds no keys."""
        if not self.has(key):
            nothing = yaml.MappingNode("", [], self._key.start_mark)
            return _Reader(self._source, self._name, self._key, nothing, known)
        node = self._nodes[key][1]
        if isinstance(node, yaml.MappingNode):
            return _Reader(self._source, f"{self._name}: {key}", node, node, known)
        self.wrong(key, f"must hold {' and '.join(known)}")
        return None

    def json(self, key: str) -> str:
        """Compact JSON text of the keys below a key, `{}` when it is not given."""
        if not self.has(key):
            return "{}"
        node = self._nodes[key][1]
        if not isinstance(node, yaml.MappingNode):
            self.wrong(key, "must hold keys and values")
            return "{}"
        try:
            return to_json("payload", self._source.plain(node, f"{self._name}: {key}"))
        except UsageError as error:
            self.wrong(key, str(error), ": ")
            return "{}"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidValue(f"{value!r} is not text; put it in quotes")
    return value


def _known_job(name: str, jobs: Collection[str] | None) -> str:
    if jobs is not None and name not in jobs:
        raise UnknownName("job", name, jobs)
    return check_text("job", name)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1_000_000:
        raise InvalidValue(f"{value!r} is not a whole number from 1 up")
    return value
