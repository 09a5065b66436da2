"""Composition root and public interface."""

from kgsched.app.kgsched import Kgsched

__all__ = ["Kgsched"]
