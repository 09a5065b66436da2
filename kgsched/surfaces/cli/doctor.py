"""`kgsched doctor`."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from kgsched.errors import KgschedError
from kgsched.surfaces.cli.options import Json
from kgsched.surfaces.cli.output import print_json, print_line
from kgsched.surfaces.cli.session import settings_of_command

if TYPE_CHECKING:
    from kgsched.config import Settings
    from kgsched.operations.doctor import Finding

_MARKS = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}


def doctor(as_json: Json = False) -> None:
    """Look for what is wrong here and in the graph, and say what to do. Exit 1 when something fails.

    Changes nothing, and starts no server.
    """
    from kgsched.surfaces.cli.machine_checks import examine

    settings = settings_of_command()
    machine, reachable = examine(settings)
    findings = machine + (asyncio.run(_graph(settings)) if reachable else [])
    if as_json:
        print_json({"findings": [asdict(one) for one in findings]})
    else:
        for one in findings:
            print_line(f"{_MARKS[one.level]}  {one.check:<9} {one.found}")
            if one.remedy and one.level != "ok":
                print_line(f"      {'':<9} → {one.remedy}")
    if any(one.level == "fail" for one in findings):
        raise typer.Exit(1)


async def _graph(settings: Settings) -> list[Finding]:
    from kgsched.app import Kgsched
    from kgsched.operations.doctor import Finding, Level

    app = Kgsched(settings)
    try:
        await app.open(migrate=False)
        return await app.operations.doctor.examine()
    except KgschedError as error:
        return [Finding("server", Level.FAIL, str(error), "see that it runs and that the settings are right")]
    finally:
        await app.close()
