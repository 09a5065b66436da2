"""A module whose import takes longer than a lease, as those with large models do."""

from __future__ import annotations

import os
import time
from typing import Any

if "kgsched.runtime.process_child" in os.environ.get("KGSCHED_TEST_SLOW_IMPORT", ""):
    time.sleep(13.0)


def answer(ctx: Any) -> int:
    return int(ctx.attempt)
