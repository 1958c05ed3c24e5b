"""Environment settings: each is one variable ``VITRINE_<NAME>`` and one row of docs/settings.md."""

import os
from functools import cached_property
from ipaddress import ip_network
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


def _default_data_dir() -> Path:
    return Path.home() / ".local" / "share" / "vitrine"


class Settings(BaseSettings):
    """What an operator sets from outside; read once at start.

    Raises ``pydantic.ValidationError`` on a value out of range, which the command line turns
    into a sentence: a misspelt number must not start a server with a default instead.
    """

    model_config = SettingsConfigDict(env_prefix="VITRINE_", frozen=True)

    data_dir: Path = Field(
        default_factory=_default_data_dir,
        description="Folder for the SQLite database and generated keys.",
    )
    database_url: str = Field(
        default="",
        description="SQLAlchemy URL, sqlite:/// or postgresql+psycopg://. Empty: SQLite in the "
        "data folder.",
    )
    host: str = Field(default="127.0.0.1", description="Address that the web server binds.")
    port: int = Field(default=8420, ge=1, le=65535, description="Port of the web server.")
    root_path: str = Field(
        default="",
        description="Base path behind a reverse proxy that strips it, for example /vitrine.",
    )
    public_url: str = Field(
        default="",
        description="Address that people open, used in the printed sign-in link only. Empty: "
        "made from host and port.",
    )
    trusted_proxies: str = Field(
        default="",
        description="Addresses or networks of reverse proxies whose X-Forwarded-For and "
        "X-Forwarded-Proto are believed, separated by commas. Empty: none.",
    )
    cache_seconds: float = Field(
        default=300, ge=1, le=86400, description="Age up to which a tool index or view is fresh."
    )
    connect_timeout_seconds: float = Field(
        default=5, gt=0, le=120, description="Time allowed to connect to an MCP server."
    )
    listing_timeout_seconds: float = Field(
        default=20,
        gt=0,
        le=300,
        description="Time allowed for tools/list and resources/read when a panel is opened.",
    )
    call_timeout_seconds: float = Field(
        default=90, gt=0, le=900, description="Time allowed for a call that a view makes."
    )
    view_max_bytes: int = Field(
        default=16 * 1024 * 1024,
        ge=1024,
        description="Largest view document, in bytes of UTF-8.",
    )
    result_max_bytes: int = Field(
        default=32 * 1024 * 1024,
        ge=1024,
        description="Largest answer accepted from an MCP server, in bytes.",
    )
    request_max_bytes: int = Field(
        default=1024 * 1024,
        ge=1024,
        description="Largest request body accepted from a browser, in bytes.",
    )
    requests_per_minute: int = Field(
        default=60, ge=1, description="Proxied requests a minute that one session's views may make."
    )
    messages_per_minute: int = Field(
        default=60, ge=1, description="Messages a minute that one session's views may send."
    )
    watch: str = Field(
        default="",
        description="Folders of transcripts to read as they are written, separated by colons, for "
        "example ~/.claude/projects:~/.codex/sessions. Empty: none.",
    )
    watch_leave_out: str = Field(
        default="",
        description="Projects that are not watched: patterns separated by commas, matched on a "
        "session’s folder and on a transcript’s path, for example /home/me/clients/*.",
    )
    redact: Literal["on", "off"] = Field(
        default="on",
        description="Whether secrets of well-known forms (API keys, private keys) are hidden "
        "before a transcript is stored.",
    )
    redact_rules: str = Field(
        default="",
        description="File of further redaction rules, one regular expression a line. Empty: none.",
    )
    login_days: int = Field(
        default=30, ge=1, le=365, description="Days after which a sign-in ends."
    )
    audit_days: int = Field(
        default=90,
        ge=0,
        le=36_500,
        description="Days that the audit trail is kept. 0: for ever.",
    )
    demo_port: int = Field(
        default=8421, ge=1, le=65535, description="Port of the demo's MCP server."
    )

    @field_validator("root_path")
    @classmethod
    def _root_path_form(cls, value: str) -> str:
        value = value.rstrip("/")
        if value and not value.startswith("/"):
            raise ValueError("must begin with /")
        return value

    @field_validator("public_url")
    @classmethod
    def _public_url_form(cls, value: str) -> str:
        if value and not value.startswith(("http://", "https://")):
            raise ValueError("must begin with http:// or https://")
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _proxies_form(cls, value: str) -> str:
        for part in filter(None, (part.strip() for part in value.split(","))):
            try:
                ip_network(part)
            except ValueError:
                raise ValueError(f"{part} is no address or network") from None
        return value

    @cached_property
    def watched_folders(self) -> tuple[Path, ...]:
        parts = (part.strip() for part in self.watch.split(os.pathsep))
        return tuple(Path(part).expanduser() for part in parts if part)

    @cached_property
    def left_out_patterns(self) -> tuple[str, ...]:
        parts = (part.strip() for part in self.watch_leave_out.split(","))
        return tuple(str(Path(part).expanduser()) for part in parts if part)

    @cached_property
    def redact_rules_file(self) -> Path | None:
        return Path(self.redact_rules).expanduser() if self.redact_rules else None

    @cached_property
    def effective_database_url(self) -> str:
        """``database_url``, or SQLite in the data folder."""
        return self.database_url or f"sqlite:///{self.data_dir.absolute() / 'vitrine.db'}"
