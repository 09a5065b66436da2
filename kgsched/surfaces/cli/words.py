"""`graph_query` and `graph_schedules`: the same commands, told in key=value words."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from kgsched.errors import InvalidValue, UnknownName
from kgsched.surfaces.cli.main import ending, main
from kgsched.surfaces.cli.output import print_line

_HELP = ("-h", "--help")
_TRUE, _FALSE = ("true", "yes", "1", "on"), ("false", "no", "0", "off")
_KEYS = ("action", "name", "priority", "interval_s", "payload", "file", "wait", "timeout", "json")
QUERY_USAGE = 'graph_query "MATCH (n) RETURN count(n)" [limit=50] [param.NAME=VALUE …] [json=true]'
_SCHEDULES_USAGE = (
    "graph_schedules action=list|show|run_now|enable|disable|prioritize|set_interval|apply "
    "[name=…] [priority=…] [interval_s=…] [payload=JSON] [file=…] [wait=false] [timeout=…] [json=true]"
)


def graph_query() -> None:
    """`graph_query "MATCH …"`."""
    if sys.argv[1:2] and sys.argv[1] in _HELP:
        print_line(f"usage: {QUERY_USAGE}\n\nRun one read-only Cypher statement.")
        return
    ending(lambda: main(query_words(sys.argv[1:])))


def graph_schedules() -> None:
    """`graph_schedules action=… name=…`."""
    if any(word in _HELP for word in sys.argv[1:]):
        print_line(f"usage: {_SCHEDULES_USAGE}\n\nList, show, run, switch and change schedules.")
        return
    ending(lambda: main(schedule_words(sys.argv[1:])))


def query_words(words: Sequence[str]) -> list[str]:
    """The command line of `kgsched` for the words of graph_query."""
    if not words:
        raise InvalidValue(f"usage: {QUERY_USAGE}")
    statement = words[0].removeprefix("query=").removeprefix("cypher=")
    line = ["graph-query"]
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if key.startswith("--"):
            line.append(word)
        elif equals and key.startswith("param."):
            line += ["--param", f"{key.removeprefix('param.')}={value}"]
        elif equals and key == "limit":
            line += ["--limit", value]
        elif equals and key == "json":
            line += ["--json"] if _truth(key, value) else []
        else:
            raise UnknownName("word of graph_query", key, ("limit", "json", "param.NAME"), f"; usage: {QUERY_USAGE}")
    return [*line, "--", statement]


def schedule_words(words: Sequence[str]) -> list[str]:
    """The command line of `kgsched` for the words of graph_schedules."""
    given: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise InvalidValue(f"{word!r} is not key=value; usage: {_SCHEDULES_USAGE}")
        if key not in _KEYS:
            raise UnknownName("word of graph_schedules", key, _KEYS)
        if key in given:
            raise InvalidValue(f"{key} is given twice")
        given[key] = value
    action = given.pop("action", "")
    if not action:
        raise InvalidValue(f"action is missing; usage: {_SCHEDULES_USAGE}")
    if action not in _ACTIONS:
        raise UnknownName("action", action, _ACTIONS)
    as_json = _truth("json", given.pop("json", "false"))
    line = _ACTIONS[action](action, given)
    if given:
        raise InvalidValue(f"{', '.join(given)} does not go with action={action}")
    return ["schedules", line[0], *(["--json"] if as_json else []), *line[1:]]


def _list(_: str, __: dict[str, str]) -> list[str]:
    return ["list"]


def _named(action: str, given: dict[str, str]) -> list[str]:
    return [action, "--", _take(action, given, "name")]


def _run_now(action: str, given: dict[str, str]) -> list[str]:
    line = ["run-now"]
    for key in ("priority", "payload", "timeout"):
        if key in given:
            line.append(f"--{key}={given.pop(key)}")
    if not _truth("wait", given.pop("wait", "true")):
        line.append("--no-wait")
    return [*line, "--", _take(action, given, "name")]


def _prioritize(action: str, given: dict[str, str]) -> list[str]:
    return ["prioritize", "--", _take(action, given, "name"), _take(action, given, "priority")]


def _set_interval(action: str, given: dict[str, str]) -> list[str]:
    return ["set-interval", "--", _take(action, given, "name"), _take(action, given, "interval_s")]


def _apply(_: str, given: dict[str, str]) -> list[str]:
    return ["apply", "--", given.pop("file")] if "file" in given else ["apply"]


_ACTIONS: dict[str, Callable[[str, dict[str, str]], list[str]]] = {
    "list": _list,
    "show": _named,
    "run_now": _run_now,
    "enable": _named,
    "disable": _named,
    "prioritize": _prioritize,
    "set_interval": _set_interval,
    "apply": _apply,
}


def _take(action: str, given: dict[str, str], key: str) -> str:
    if not given.get(key):
        raise InvalidValue(f"action={action} needs {key}=…")
    return given.pop(key)


def _truth(key: str, text: str) -> bool:
    if text.lower() not in _TRUE + _FALSE:
        raise InvalidValue(f"{key}={text} is neither true nor false")
    return text.lower() in _TRUE
