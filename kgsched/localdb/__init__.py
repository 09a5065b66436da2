"""The managed Neo4j: download, start, share and stop a real server on this machine."""

from kgsched.localdb.conf import QUICK_JIT
from kgsched.localdb.lockfile import shipped_versions
from kgsched.localdb.ready import Probe, Progress
from kgsched.localdb.server import ManagedServer, ServerAddress, ServerStatus

__all__ = ["QUICK_JIT", "ManagedServer", "Probe", "Progress", "ServerAddress", "ServerStatus", "shipped_versions"]
