"""`kgsched config`."""

from __future__ import annotations

import os
from typing import Any

import typer

from kgsched.surfaces.cli.options import Json
from kgsched.surfaces.cli.output import print_json, print_table

DURATIONS = frozenset(
    {"neo4j_ready_timeout", "lease", "grace", "beat", "drain", "poll", "backoff_base", "backoff_cap", "deadline"}
    | {"keep_finished", "archive_after", "keep_audit", "research_feed_interval", "arxiv_interval", "pdf_timeout"}
)
app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def config() -> None:
    """Settings of kgsched."""


@app.command()
def show(as_json: Json = False) -> None:
    """Show each setting, its value, and where it comes from."""
    rows = _rows()
    if as_json:
        print_json({"settings": rows})
    else:
        print_table(("setting", "value", "source", "variable"), [_with_unit(row) for row in rows])


def _with_unit(row: dict[str, Any]) -> dict[str, Any]:
    """The row with a duration as text, like 5m; settings hold seconds."""
    from kgsched.core.times import show_duration

    if row["setting"] not in DURATIONS or row["value"] is None:
        return row
    return row | {"value": show_duration(round(row["value"] * 1000))}


def _rows() -> list[dict[str, Any]]:
    from pydantic import AliasChoices, SecretStr

    from kgsched.config import Settings, load_settings

    settings, rows = load_settings(), []
    present = {name.upper(): name for name in os.environ}
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        variables = (
            [str(one) for one in alias.choices] if isinstance(alias, AliasChoices) else [f"KGSCHED_{name.upper()}"]
        )
        source = next((present[one] for one in variables if one in present), None)
        value = getattr(settings, name)
        shown = "(set, not shown)" if isinstance(value, SecretStr) else value
        plain = shown if isinstance(shown, bool | int | float | str | None) else str(shown)
        rows.append(
            {"setting": name, "value": plain, "source": source or "default", "variable": " or ".join(variables)}
        )
    return rows
