"""Errors of the driver and of the server, as kgsched tells them."""

from __future__ import annotations

from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    ConstraintError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

from kgsched.errors import Conflict, KgschedError, StorageConflict, StorageConnectionError, StoreError

QUICK_RETRIES = 40
_QUICK_CODES = (
    "DeadlockDetected",
    "LockAcquisitionTimeout",
    "LockClientStopped",
    "EntityNotFound",
    "Outdated",
)
_AWAY_CODES = (
    "DatabaseUnavailable",
    "NotALeader",
    "NoThreadsAvailable",
    "ForbiddenOnReadOnlyDatabase",
    "DatabaseNotFound",
)


class UniqueViolation(Conflict):
    """A uid, id, key or name that exists already."""


def quick(error: Neo4jError) -> bool:
    """Whether the same statement may simply be sent again at once."""
    return any(code in (error.code or "") for code in _QUICK_CODES)


def timed_out(error: Neo4jError) -> bool:
    """Whether the server ended the transaction for its time: it was rolled back."""
    return "TransactionTimedOut" in (error.code or "")


def translate(error: Exception, doing: str) -> KgschedError:
    """The error of kgsched for an error of the driver."""
    if isinstance(error, ConstraintError):
        return UniqueViolation(f"{doing}: {error.message}")
    if isinstance(error, AuthError):
        return StoreError(f"{doing}: the database refused the user or password; check KGSCHED_NEO4J_USER and _PASSWORD")
    if isinstance(error, (ServiceUnavailable, SessionExpired, ConfigurationError, OSError)):
        why = " ".join(str(error).split())
        return StorageConnectionError(f"{doing}: the database does not answer ({why}); `kgsched doctor` tells more")
    if isinstance(error, Neo4jError):
        code = error.code or ""
        if any(one in code for one in _AWAY_CODES) or "AuthorizationExpired" in code:
            return StorageConnectionError(f"{doing}: the database is not ready ({code})")
        if timed_out(error):
            return StorageConflict(f"{doing}: the database is too busy; it was rolled back after its time was over")
        if quick(error):
            return StorageConflict(f"{doing}: {code} lasted over {QUICK_RETRIES} tries")
        return StoreError(f"{doing}: {code}: {error.message}")
    if isinstance(error, DriverError):
        return StorageConnectionError(f"{doing}: {error}")
    return StoreError(f"{doing}: {error}")


def undone(error: Exception, doing: str) -> KgschedError:
    """The same for a statement in an open transaction, which every error undoes."""
    if isinstance(error, Neo4jError) and quick(error):
        return StorageConflict(f"{doing}: {error.code}; it undid the transaction, so do its block again")
    return translate(error, doing)
