"""The same application as for REST."""

from __future__ import annotations

from tests.rest.conftest import app, http, settings, web

__all__ = ["app", "http", "settings", "web"]
