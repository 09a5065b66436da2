"""Configuration: environment variables `KGSCHED_…`, and the few names that other programs already use."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

import platformdirs
from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from kgsched.errors import InvalidValue

DEFAULT_NEO4J = "5.26.30"


def _slots() -> int:
    return max(4, 2 * (os.cpu_count() or 2))


class Settings(BaseSettings):
    """All settings of a process. Durations are in seconds, sizes in bytes unless the name says otherwise."""

    model_config = SettingsConfigDict(
        env_prefix="KGSCHED_",
        extra="ignore",
        frozen=True,
        populate_by_name=True,
        env_ignore_empty=True,
        allow_inf_nan=False,
    )

    # where the graph is; no URI means the managed Neo4j
    neo4j_uri: str | None = None
    neo4j_user: str = "neo4j"
    neo4j_password: SecretStr | None = None
    neo4j_database: str = "neo4j"

    # the managed Neo4j
    neo4j_version: str = DEFAULT_NEO4J
    home: Path = Field(default_factory=lambda: platformdirs.user_data_path("kgsched"))
    cache: Path = Field(default_factory=lambda: platformdirs.user_cache_path("kgsched"))
    maven_url: str = "https://repo1.maven.org/maven2"
    java: Path | None = None
    neo4j_heap: str = "512m"
    neo4j_pagecache: str = "128m"
    neo4j_java_options: str = ""
    neo4j_settings: str = Field("", description="more of its neo4j.conf: name=value; name=value")
    neo4j_ready_timeout: float = Field(300.0, gt=0)
    neo4j_port: int | None = Field(None, ge=1, le=65535, description="of the managed Neo4j; a free one if unset")

    # queue
    space: str = Field("default", pattern=r"^[a-z0-9_-]{1,64}$")
    slots: int = Field(default_factory=_slots, ge=1, le=1000)
    lease: float = Field(300.0, ge=1)
    grace: float = Field(60.0, ge=0)
    beat: float = Field(20.0, gt=0)
    drain: float = Field(30.0, ge=0, description="how long a drain waits for running bodies")
    poll: float = Field(0.25, gt=0, description="pause between claims when idle")
    max_attempts: int = Field(3, ge=1, le=1000)
    backoff_base: float = Field(30.0, gt=0)
    backoff_cap: float = Field(3600.0, gt=0)
    deadline: float | None = Field(
        None, gt=0, validation_alias=AliasChoices("KGSCHED_DEADLINE", "PIPELINE_WORK_ITEM_TIMEOUT_SECS")
    )
    keep_finished: float = Field(30 * 86400.0, gt=0, description="age at which purge deletes finished tasks")
    archive_after: float = Field(7 * 86400.0, gt=0, description="age at which archive drops payloads and results")

    # doors
    http_host: str = Field("127.0.0.1", description="address that the daemon's HTTP server listens on")
    http_port: int = Field(8080, ge=0, le=65535, description="its port; 0 takes a free one")
    http_hosts: str = Field("", description="names that the Host header may hold besides those of loopback")
    http_trusted_proxies: str = Field("", description="addresses of proxies that end TLS in front of this server")
    http_tls_cert: Path | None = Field(None, description="file with the certificate chain")
    http_tls_key: Path | None = Field(None, description="file with its key")
    http_rate: float = Field(300.0, ge=0, description="requests a second of one token, bursts of twice that; 0: any")
    token_key: SecretStr | None = Field(
        None, min_length=16, description="key of the tags of tokens, the same for all daemons; in `home` if unset"
    )
    keep_audit: float = Field(90 * 86400.0, gt=0, description="age at which entries of the audit are deleted")
    audit_most: int = Field(100_000, ge=100, description="most entries that the audit keeps")

    # schedules and the feed
    schedules: Path | None = None
    research_feed: bool = Field(True, validation_alias=AliasChoices("KG_RESEARCH_FEED", "KGSCHED_RESEARCH_FEED"))
    research_feed_interval: int = Field(
        1800,
        ge=1,
        validation_alias=AliasChoices("KG_RESEARCH_FEED_INTERVAL", "KGSCHED_RESEARCH_FEED_INTERVAL"),
    )
    arxiv_rss_url: str = "https://rss.arxiv.org"
    arxiv_api_url: str = "https://export.arxiv.org"
    arxiv_pdf_url: str = "https://export.arxiv.org"
    arxiv_categories: str = "cs.AI,cs.CL,cs.IR,cs.LG,cs.MA,q-fin.TR"
    arxiv_interval: float = Field(3.0, ge=3.0, description="pause between two requests; loopback bases have none")
    arxiv_contact: str = "https://pypi.org/project/kgsched/"
    pdf_max_bytes: int = Field(64 * 1024 * 1024, gt=0)
    pdf_timeout: float = Field(120.0, gt=0)

    # what a person sees
    log_format: str = Field("auto", pattern="^(auto|console|json)$")
    log_level: str = Field("info", pattern="^(debug|info|warning|error)$")

    @cached_property
    def host_names(self) -> frozenset[str]:
        return frozenset(part.strip().lower() for part in self.http_hosts.split(",") if part.strip())

    @cached_property
    def categories(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(part.strip() for part in self.arxiv_categories.split(",") if part.strip()))


def load_settings(**overrides: object) -> Settings:
    """Settings from the environment, `overrides` first. Raises InvalidValue that names the variable."""
    try:
        settings = Settings(**{key: value for key, value in overrides.items() if value is not None})  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else "?"
        field = Settings.model_fields.get(name)
        variable = name if field is None else f"KGSCHED_{name.upper()}"
        raise InvalidValue(f"setting {variable}: {first['msg'].lower()} (got {first.get('input')!r})") from None
    if settings.beat * 3 >= settings.lease:
        raise InvalidValue(
            f"setting KGSCHED_BEAT: {settings.beat:g} s is not below a third of the lease of {settings.lease:g} s"
        )
    return settings
