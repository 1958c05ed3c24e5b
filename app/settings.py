"""Environment settings: each is one variable ``VITRINE_<NAME>`` and one row of docs/settings.md."""

import os
import re
from functools import cached_property
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Final, Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

MIN_SECRET_KEY: Final = 32
_HOST_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]")
_HEADER: Final = re.compile(r"[A-Za-z0-9-]{1,64}")
# Sent by every browser, or by any.
_NO_USER_HEADERS: Final = {
    "accept", "authorization", "connection", "content-length", "content-type", "cookie", "host",
    "origin", "referer", "user-agent", "x-forwarded-for", "x-forwarded-proto",
}  # fmt: skip


def _parts(value: str) -> list[str]:
    return [part for part in (part.strip() for part in value.split(",")) if part]


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
        description="Address that people open: for the printed sign-in link, and a host that is "
        "answered. Empty: made from host and port.",
    )
    trusted_proxies: str = Field(
        default="",
        description="Addresses or networks of reverse proxies whose X-Forwarded-For and "
        "X-Forwarded-Proto are believed, separated by commas. Empty: none.",
    )
    allowed_hosts: str = Field(
        default="",
        description="Further host names under which Vitrine is opened, separated by commas. The "
        "one in the public URL, the bound address and this machine's own are known.",
    )
    proxy_user_header: str = Field(
        default="",
        description="Header in which a reverse proxy names the person that it signed in, for "
        "example Remote-User. Empty: off.",
    )
    proxy_sign_in_from: str = Field(
        default="",
        description="Addresses or networks of the reverse proxies whose word on that is believed, "
        "separated by commas. What counts is who holds the socket.",
    )
    proxy_new_users: Literal["none", "viewer"] = Field(
        default="none",
        description="What somebody becomes whom the reverse proxy signs in and nobody added here.",
    )
    secret_key: str = Field(
        default="",
        repr=False,
        description="Key that encrypts stored credentials, at least 32 characters; several, "
        "separated by commas, while one takes the place of another: the first one encrypts. "
        "Empty: the file secret.key in the data folder, made at the first start.",
    )
    credential_variables: str = Field(
        default="",
        description="Environment variables that may be sent to MCP servers as credentials, "
        "separated by commas: NAME, or NAME@host for the servers at one host. Empty: none.",
    )
    outbound_proxy: str = Field(
        default="",
        description="HTTP proxy through which public MCP servers are reached, http://host:port. "
        "Empty: none; proxies named elsewhere in the environment are ignored.",
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

    @field_validator("allowed_hosts")
    @classmethod
    def _hosts_form(cls, value: str) -> str:
        for part in _parts(value):
            if not _HOST_NAME.fullmatch(part):
                raise ValueError(f"{part} is no host name or address")
        return value

    @field_validator("proxy_user_header")
    @classmethod
    def _header_form(cls, value: str) -> str:
        if value and (not _HEADER.fullmatch(value) or value.lower() in _NO_USER_HEADERS):
            raise ValueError("must be the name of a header that nothing else uses")
        return value

    @model_validator(mode="after")
    def _proxy_has_an_address(self) -> Self:
        if self.proxy_user_header and not _parts(self.proxy_sign_in_from):
            raise ValueError("VITRINE_PROXY_USER_HEADER needs VITRINE_PROXY_SIGN_IN_FROM as well")
        return self

    @field_validator("trusted_proxies", "proxy_sign_in_from")
    @classmethod
    def _proxies_form(cls, value: str) -> str:
        for part in _parts(value):
            try:
                ip_network(part)
            except ValueError:
                raise ValueError(f"{part} is no address or network") from None
        return value

    @field_validator("secret_key")
    @classmethod
    def _secret_key_form(cls, value: str) -> str:
        # No sentence here may hold the value.
        if any(len(key) < MIN_SECRET_KEY for key in _parts(value)):
            raise ValueError(f"a key must have at least {MIN_SECRET_KEY} characters")
        return value

    @field_validator("credential_variables")
    @classmethod
    def _variables_form(cls, value: str) -> str:
        for entry in _parts(value):
            name = entry.partition("@")[0]
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}(@[\w.:-]+)?", entry):
                raise ValueError("must be names of variables, NAME or NAME@host, with commas")
            if name.upper().startswith("VITRINE_"):
                raise ValueError(f"{name} is Vitrine’s own and is not for others")
        return value

    @field_validator("outbound_proxy")
    @classmethod
    def _outbound_proxy_form(cls, value: str) -> str:
        if value and not re.fullmatch(r"http://([\w.-]+|\[[0-9a-fA-F:.]+\]):\d{1,5}/?", value):
            raise ValueError("must be http://host:port, without a user name or password")
        return value

    @cached_property
    def secret_keys(self) -> tuple[str, ...]:
        return tuple(_parts(self.secret_key))

    @cached_property
    def listed_variables(self) -> frozenset[str]:
        return frozenset(_parts(self.credential_variables))

    @cached_property
    def host_names(self) -> tuple[str, ...]:
        return tuple(_parts(self.allowed_hosts))

    @cached_property
    def proxy_networks(self) -> tuple[IPv4Network | IPv6Network, ...]:
        return tuple(ip_network(part) for part in _parts(self.proxy_sign_in_from))

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
