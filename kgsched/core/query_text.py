"""The text of a statement with all that is quoted or commented blanked out, so that keywords can be looked for."""

from __future__ import annotations

from typing import NoReturn

from kgsched.errors import SecurityError

QUOTED = "\u00ac"  # stands for a name in backticks; no statement may hold it outside of quotes
_ENDS = {"'": "'", '"': '"', "`": "`", "/*": "*/"}
_NAMES = {"'": "a string", '"': "a string", "`": "a name in backticks", "/*": "a comment"}


def blank(text: str) -> str:
    """Strings become '', names in backticks QUOTED, comments a space. Raises SecurityError when one does not end."""
    out: list[str] = []
    place = 0
    while place < len(text):
        start = _start(text, place)
        if start is None:
            out.append(text[place])
            place += 1
            continue
        place = _end(text, place, start)
        out.append({"`": QUOTED, "//": "\n", "/*": " "}.get(start, "''"))
    return "".join(out)


def strings(text: str) -> list[str]:
    """What stands in the quotes of each string, in order, as `blank` leaves '' for each."""
    found: list[str] = []
    place = 0
    while place < len(text):
        start = _start(text, place)
        end = place + 1 if start is None else _end(text, place, start)
        if start in ("'", '"'):
            found.append(text[place + 1 : end - 1])
        place = end
    return found


def refuse(reason: str) -> NoReturn:
    """Raises SecurityError that says which rule a statement breaks."""
    raise SecurityError(f"refused: {reason}")


def _start(text: str, place: int) -> str | None:
    two = text[place : place + 2]
    if two in ("//", "/*"):
        return two
    return text[place] if text[place] in _ENDS else None


def _end(text: str, place: int, start: str) -> int:
    """The place behind what `start` opens at `place`."""
    if start == "//":  # ends where the server ends it: at either character
        return next((seen + 1 for seen in range(place, len(text)) if text[seen] in "\r\n"), len(text))
    end, seen = _ENDS[start], place + len(start)
    while seen < len(text):
        if start in "'\"" and text[seen] == "\\":
            seen += 2
        elif text.startswith(end, seen):
            if start == "`" and text.startswith("``", seen):
                seen += 2
                continue
            return seen + len(end)
        else:
            seen += 1
    refuse(f"{_NAMES[start]} does not end")
