"""What the files under cypher/ say about themselves, read apart from the loader."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "cypher"
_FIELD = re.compile(r"(params|returns|mode):\s*(.*)")
_NESTED = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}|\([^()]*\)")
_REFERENCE = re.compile(r"(?:and )?as ([a-z]+/[a-z_]+)")


@dataclass(frozen=True, slots=True)
class Header:
    """Purpose and fields of one file; continuation lines are joined."""

    name: str
    purpose: str
    params: str
    returns: str
    mode: str
    body: str

    @property
    def parameters(self) -> frozenset[str]:
        """Names declared, those of a statement that is referred to included."""
        text, parameters = self.params, set[str]()
        while (shorter := _NESTED.sub("", text)) != text:
            text = shorter
        if text.strip() == "none":
            return frozenset()
        for word in (part.strip() for part in text.split(",")):
            if reference := _REFERENCE.fullmatch(word):
                parameters |= header(reference[1]).parameters
            elif word:
                parameters.add(word)
        return frozenset(parameters)

    @property
    def returned(self) -> frozenset[str]:
        """Words of the line that says what comes back."""
        words = set(re.findall(r"\w+", self.returns))
        for reference in _REFERENCE.findall(self.returns):
            words |= header(reference).returned
            words |= set(re.findall(r"\bAS (\w+)", header(reference).body))
        return frozenset(words)


@cache
def header(name: str) -> Header:
    lines = (FOLDER / f"{name}.cypher").read_text(encoding="utf-8").splitlines()
    top = [line for line in lines if line.startswith("//")]
    head = top[: next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))]
    fields = {"purpose": "", "params": "", "returns": "", "mode": ""}
    current = "purpose"
    for line in head:
        text = line[2:].strip()
        if match := _FIELD.fullmatch(text):
            current, text = match[1], match[2]
        fields[current] = f"{fields[current]} {text}".strip()
    return Header(name, body="\n".join(lines[len(head) :]), **fields)


@cache
def names() -> tuple[str, ...]:
    """All statements, `noun/verb`."""
    found = (path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.cypher"))
    return tuple(sorted(found))
