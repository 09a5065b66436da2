"""The file that handlers append to: one line of fixed length for each body that began."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

LENGTH = 36 + 1 + 6 + 1 + 8 + 1


class Journal:
    """Lines `<uid> <claims> <pid>`. A line is handed to the kernel in one write, so a kill leaves it whole or out."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / "journal", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)

    def began(self, uid: str, claims: int) -> None:
        os.write(self._file, f"{uid:36} {claims:6} {os.getpid():8}\n".encode())

    def __len__(self) -> int:
        return os.fstat(self._file).st_size // LENGTH

    def executions(self) -> Counter[tuple[str, int]]:
        """How often each claim's body began: the key is (uid, claims)."""
        text = os.pread(self._file, os.fstat(self._file).st_size, 0).decode()
        return Counter((line[:36].strip(), int(line[37:43])) for line in text.splitlines())

    def close(self) -> None:
        os.close(self._file)
