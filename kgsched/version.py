"""The version of this kgsched."""

__version__ = "0.1.0"
