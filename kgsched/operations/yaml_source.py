"""YAML as nodes with line numbers: no anchors, no tags, no duplicate keys, `${KG_…:-default}` put in first.

Nothing is ever constructed from a tag, and what a variable holds is one scalar, never structure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import yaml

MAX_BYTES = 1024 * 1024
_VARIABLE = re.compile(r"\$\{((?:KG|KGSCHED)_[A-Z0-9_]+)(?::-([^}]*))?\}")
_BARE_CRON = re.compile(r"^(\s*cron:\s*)([*@][^#'\"\n]*?)(\s*(?:#.*)?)$", re.MULTILINE)
_TAG = "tag:yaml.org,2002:"
_SCALARS = ("null", "bool", "int", "float", "str", "timestamp", "merge", "value")
_PLAIN_TAGS = frozenset(_TAG + kind for kind in (*_SCALARS, "map", "seq"))
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_TRUE = ("true", "yes", "on")
_MAX_DIGITS = 1000


class Source:
    """One YAML file being read; `problems` collects (line, text), lines from 1."""

    def __init__(self, text: str, environ: Mapping[str, str]) -> None:
        self.problems: list[tuple[int | None, str]] = []
        self._environ = environ
        self._variables: dict[int, str] = {}
        self.root = self._compose(text)
        if self.root is not None:
            self._substitute(self.root)

    def problem(self, node: yaml.Node | None, text: str, at: yaml.Node | None = None) -> None:
        """Note a mistake in a node, with its line (or that of `at`) and the variable that its text came from."""
        variable = None if node is None else self.variable(node)
        place = at or node
        line = None if place is None else _line(place.start_mark)
        self.problems.append((line, f"{text} (from {variable})" if variable else text))

    def variable(self, node: yaml.Node) -> str | None:
        """The environment variable that a scalar's text came from."""
        return self._variables.get(id(node))

    def mapping(self, node: yaml.MappingNode, where: str) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        """Keys to their (key node, value node); keys that are no text or come twice are problems."""
        found: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.problem(key, f"{where}: a key must be text")
            elif key.value in found:
                first = _line(found[key.value][0].start_mark)
                self.problem(key, f"{where}: {key.value!r} is given twice; the first is in line {first}")
            else:
                found[key.value] = (key, value)
        return found

    def plain(self, node: yaml.Node, where: str) -> Any:
        """The JSON value of a node. Timestamps stay the text that they are."""
        match node:
            case yaml.MappingNode():
                pairs = self.mapping(node, where)
                return {key: self.plain(value, f"{where}.{key}") for key, (_, value) in pairs.items()}
            case yaml.SequenceNode():
                return [self.plain(item, where) for item in node.value]
            case _:
                return self._scalar(node, where)

    def _scalar(self, node: yaml.Node, where: str) -> Any:
        text = str(node.value)
        match node.tag.removeprefix(_TAG):
            case "null":
                return None
            case "bool":
                return text.lower() in _TRUE
            case "int" if _DECIMAL.fullmatch(text) and len(text) <= _MAX_DIGITS:
                return int(text)
            case "int":
                self.problem(node, f"{where}: {text[:40]} is not a decimal number; put it in quotes if it is text")
                return 0
            case "float":
                try:
                    return float(text)
                except ValueError:
                    self.problem(node, f"{where}: {text} is not a number that can be stored; put it in quotes")
                    return 0.0
            case _:
                return text

    def _compose(self, text: str) -> yaml.Node | None:
        try:
            return self._compose_once(text)
        except yaml.YAMLError as error:
            repaired = _BARE_CRON.sub(self._quote_cron, text)
            if repaired == text:
                self._syntax_problem(error)
                return None
        try:
            return self._compose_once(repaired)
        except yaml.YAMLError as error:
            self._syntax_problem(error)
            return None

    def _compose_once(self, text: str) -> yaml.Node | None:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
        except RecursionError:
            self.problems.append((None, "is nested too deeply"))
            return None
        finally:
            loader.dispose()
        self.problems.extend(loader.refused)
        return node

    def _quote_cron(self, match: re.Match[str]) -> str:
        line = match.string.count("\n", 0, match.start(2)) + 1
        self.problems.append((line, f"cron must stand in quotes: '{match[2]}'"))
        return f"{match[1]}'{match[2]}'{match[3]}"

    def _syntax_problem(self, error: yaml.YAMLError) -> None:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "is not YAML"
        context = getattr(error, "context", None)
        self.problems.append((_line(mark), f"{reason}{f', {context}' if context else ''}"))

    def _substitute(self, root: yaml.Node) -> None:
        for node in _scalar_values(root):
            text = _VARIABLE.sub(partial(self._value, node), node.value)
            if text == node.value:
                continue
            names = [match[1] for match in _VARIABLE.finditer(node.value) if self._environ.get(match[1])]
            if names:
                self._variables[id(node)] = ", ".join(names)
            node.value = text
            if node.style is None:
                node.tag = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]

    def _value(self, node: yaml.ScalarNode, match: re.Match[str]) -> str:
        name, default = match.groups()
        value = self._environ.get(name)
        if not value and default is None:
            self.problem(node, f"the variable {name} is not set, and there is no default; write ${{{name}:-default}}")
        return value or default or ""


class _Loader(yaml.SafeLoader):
    """Composes nodes; anchors, aliases and tags are noted and read as if they were not there."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.refused: list[tuple[int | None, str]] = []

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        mark: Any = event.start_mark
        line = _line(mark)
        if isinstance(event, yaml.AliasEvent):
            self.get_event()  # type: ignore[no-untyped-call]
            self.refused.append((line, f"aliases are not allowed; write out what *{event.anchor} stands for"))
            return yaml.ScalarNode(f"{_TAG}str", "", mark, mark, style="'")
        if event.anchor is not None:
            self.refused.append((line, f"anchors are not allowed; remove &{event.anchor}"))
            event.anchor = None
        node = super().compose_node(parent, index)
        if node is not None and node.tag not in _PLAIN_TAGS:
            self.refused.append((line, f"the tag {node.tag!r} is not allowed; use plain values"))
        return node


_RESOLVER = yaml.SafeLoader("")


def _scalar_values(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    match node:
        case yaml.MappingNode():
            for _, value in node.value:
                yield from _scalar_values(value)
        case yaml.SequenceNode():
            for item in node.value:
                yield from _scalar_values(item)
        case yaml.ScalarNode():
            yield node


def _line(mark: Any) -> int | None:
    return None if mark is None else int(mark.line) + 1
