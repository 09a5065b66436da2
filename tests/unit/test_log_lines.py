"""Lines of the log stay whole, whichever thread or part of the program writes at the same time."""

from __future__ import annotations

import json
import subprocess
import sys

PROGRAM = """
import threading, structlog
from kgsched.app.logs import set_up_logs
from kgsched.config import Settings
from kgsched.surfaces.cli.output import say

set_up_logs(Settings(log_format="json"))

def talk(number):
    for _ in range(2000):
        structlog.get_logger().info("a line", number=number)
        say("for a person")

threads = [threading.Thread(target=talk, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_lines_of_threads_do_not_run_into_each_other() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    lines = done.stderr.splitlines()
    logged = [json.loads(line) for line in lines if line != "for a person"]
    assert (len(lines), len(logged)) == (16_000, 8_000)
