"""The managed Neo4j: download, start, share and stop a real server on this machine."""

from kgsched.localdb.lockfile import shipped_versions
from kgsched.localdb.ready import Probe, Progress
from kgsched.localdb.server import ManagedServer, ServerAddress, ServerStatus

__all__ = ["ManagedServer", "Probe", "Progress", "ServerAddress", "ServerStatus", "shipped_versions"]
