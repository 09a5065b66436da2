"""How a handler gets its arguments: the context, then what it declares, by name, from the payload."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

from kgsched.errors import Permanent

CONTEXT_NAMES = frozenset({"ctx", "context", ""})
Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def parse_payload(type_name: str, text: str | None) -> Any:
    """The payload of a task; absent means an empty object. Raises Permanent when it is not JSON."""
    if text is None:
        return {}
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Permanent(f"payload of this task of type {type_name!r} is not JSON: {error}") from None


def bind(type_name: str, handler: Callable[..., Any], context: object, payload: Any) -> Arguments:
    """Positional and keyword arguments of one call.

    A first parameter called `ctx` or `context`, or typed as a context, gets the context; the others get the payload's
    members by name. A handler that takes the context alone, or nothing, ignores the payload. Raises Permanent that
    names the argument that is missing or unknown.
    """
    signature = inspect.signature(handler)
    parameters = list(signature.parameters.values())
    leading = (context,) if parameters and takes_context(parameters[0]) else ()
    if len(parameters) == len(leading):
        return leading, {}
    if not isinstance(payload, dict):
        raise Permanent(f"task type {type_name!r} takes named arguments; its payload must be a JSON object")
    try:
        bound = signature.bind(*leading, **payload)
    except TypeError as error:
        raise Permanent(f"task type {type_name!r}: {error}; its payload has {_names(payload)}") from None
    return bound.args, bound.kwargs


def takes_context(parameter: inspect.Parameter) -> bool:
    """Whether a handler's first parameter is for the context: by its name, or by its annotation."""
    if parameter.kind not in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD):
        return False
    annotation = parameter.annotation
    written = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return parameter.name.lstrip("_") in CONTEXT_NAMES or written.endswith("Context")


def _names(payload: dict[str, Any]) -> str:
    return ", ".join(repr(name) for name in sorted(payload)[:10]) or "nothing"
