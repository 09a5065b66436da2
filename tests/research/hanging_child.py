"""Stands in for a PDF reader that never comes back."""

import signal
import sys

if __name__ == "__main__":
    sys.stdin.buffer.read()
    signal.pause()
