"""What the server is started with: neo4j.conf, the first password, the command line of the Java process.

The settings keep it small, local and closed: loopback only, no HTTP, no file or network access from Cypher,
no telemetry, no preallocated logs. Plans are kept for five minutes: a queue's counts change all the time, its
plans do not, and planning anew every ten seconds, the default, tripled the p95 of claims under load. Each is
described in the Neo4j operations manual; the `internal.` ones are not.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

from kgsched.errors import LocalDbError
from kgsched.localdb.lockfile import line_of

COMMON = """\
server.config.strict_validation.enabled=true
server.default_listen_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:{port}
server.bolt.advertised_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
server.directories.import={folder}/import-empty
server.memory.pagecache.size={pagecache}
server.bolt.thread_pool_min_size=2
server.bolt.thread_pool_max_size=100
dbms.security.auth_enabled=true
dbms.security.auth_minimum_password_length=12
dbms.security.allow_csv_import_from_file_urls=false
dbms.security.procedures.allowlist=db.*,dbms.components
dbms.usage_report.enabled=false
dbms.memory.transaction.total.max=256m
db.memory.transaction.max=128m
db.transaction.timeout=60s
db.transaction.concurrent.maximum=400
db.lock.acquisition.timeout=10s
db.checkpoint.interval.time=1m
dbms.cypher.min_replan_interval=5m
db.tx_log.preallocate=false
db.tx_log.rotation.size=32m
db.tx_log.rotation.retention_policy=2 files
db.logs.query.enabled=OFF
db.filewatcher.enabled=false
internal.dbms.cypher_ip_blocklist=0.0.0.0/0,::/0
internal.server.bolt.thread_pool_shutdown_wait_time=0s
"""
SINCE_2025 = """\
dbms.fleet_manager.enabled=false
server.fleet_discovery.enabled=false
db.query.default_language=CYPHER_5
"""
QUICK_JIT = "-XX:TieredStopAtLevel=1"  # a server that lives for minutes spends half of its time compiling itself
OPENED = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
HASH_ROUNDS = 1024


@dataclass(frozen=True, slots=True)
class Program:
    """An installed server: what to run, on which Java, and how much memory it gets."""

    version: str
    java: Path
    class_path: str
    main_class: str
    heap: str
    pagecache: str
    options: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    archive: tuple[str, ...] = ()

    def command(self, folder: Path, instance: str, extra: tuple[str, ...] = ()) -> list[str]:
        """The command line. It names folder and instance, by which the process is recognised later."""
        return [
            str(self.java),
            "-Xms64m",
            f"-Xmx{self.heap}",
            *jvm_flags(),
            *self.archive,
            *self.options,
            *extra,
            f"-Dkgsched.instance={instance}",
            "-cp",
            self.class_path,
            self.main_class,
            f"--home-dir={folder}",
            f"--config-dir={folder}/conf",
            "--console-mode",
        ]

    def configuration(self, folder: Path, port: int) -> str:
        text = COMMON if line_of(self.version) == "5" else COMMON + SINCE_2025
        own = text.format(port=port, folder=folder, pagecache=self.pagecache).splitlines()
        lines = dict(line.split("=", 1) for line in own) | dict(self.settings)
        return "".join(f"{name}={value}\n" for name, value in lines.items())


def parse_settings(text: str) -> tuple[tuple[str, str], ...]:
    """Settings of Neo4j from `name=value; name=value`. Raises LocalDbError for what has not this form."""
    pairs = []
    for part in filter(None, (one.strip() for one in re.split(r"[;\n]", text))):
        name, equals, value = (one.strip() for one in part.partition("="))
        if not equals or not re.fullmatch(r"[A-Za-z0-9_.]+", name):
            raise LocalDbError(f"KGSCHED_NEO4J_SETTINGS: {part!r} is not a setting of Neo4j like name=value")
        pairs.append((name, value))
    return tuple(pairs)


def jvm_flags() -> tuple[str, ...]:
    """Flags that are the same for every run; the class archive is only valid for the same ones."""
    return (
        "-XX:+UseSerialGC",
        "-XX:-OmitStackTraceInFastThrow",
        "-XX:+DisableExplicitGC",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED),
        "--enable-native-access=ALL-UNNAMED",
        "-Dlog4j2.disable.jmx=true",
        "-Dfile.encoding=UTF-8",
    )


def main_class(jar: Path) -> str:
    """The class that starts a server, as neo4j-<version>.jar itself names it."""
    with ZipFile(jar) as archive:
        return archive.read("META-INF/services/org.neo4j.server.startup.EntryPoint").decode().split()[0]


def auth_ini(password: str, salt: bytes | None = None) -> str:
    """The file that gives user neo4j a first password, in the form that the server itself writes."""
    salt = salt or secrets.token_bytes(32)
    digest = hashlib.sha256(salt + password.encode()).digest()
    for _ in range(HASH_ROUNDS - 1):
        digest = hashlib.sha256(digest).digest()
    return f"neo4j:SHA-256,{digest.hex().upper()},{salt.hex().upper()},{HASH_ROUNDS}:\n"
