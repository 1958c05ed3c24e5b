"""MCP servers that the operator added."""

from datetime import datetime

from sqlalchemy import JSON, Boolean, Column, ForeignKey, LargeBinary, String, Text, false
from sqlmodel import Field, SQLModel

from app.db.tables.base import now, owned_by, utc_time


class Server(SQLModel, table=True):
    """An MCP server that the operator added. Trust (``allowed``) is the URL's."""

    __tablename__ = "servers"

    id: int | None = Field(default=None, primary_key=True)
    url: str = Field(sa_column=Column(Text, nullable=False, unique=True))
    transport: str = Field(default="streamable-http", max_length=16)  # or "sse", "stdio"
    allowed: bool = False
    # Whether views may call tools that declare no visibility, as the specification has it.
    unmarked_tools: bool = False
    # Whether views may call its tools for somebody who is a viewer.
    viewers_may_call: bool = Field(
        default=False, sa_column=Column(Boolean, nullable=False, server_default=false())
    )
    # What it was last spoken to in ("2025-11-25"): saves the first try. None: not known.
    protocol: str | None = Field(default=None, sa_column=Column(String(16), nullable=True))
    # What its views are granted in the browser ("geolocation", …).
    permissions: list[str] = Field(
        default_factory=list, sa_column=Column(JSON, nullable=False, server_default="[]")
    )
    # Whether somebody said that its address may lie in a private network.
    private_confirmed: bool = False
    # What its views may call ("allowed", "ask", "none") and reach ("all", "chosen", "none").
    calls: str = Field(
        default="allowed", sa_column=Column(String(8), nullable=False, server_default="allowed")
    )
    domains: str = Field(
        default="all", sa_column=Column(String(8), nullable=False, server_default="all")
    )
    chosen_domains: list[str] = Field(
        default_factory=list, sa_column=Column(JSON, nullable=False, server_default="[]")
    )
    created_at: datetime = Field(default_factory=now, sa_column=utc_time())


class ServerName(SQLModel, table=True):
    """A name in a session's configuration, resolved to a server. A name gives no trust."""

    __tablename__ = "server_names"

    name: str = Field(sa_column=Column(Text, primary_key=True, nullable=False))
    server_id: int = Field(sa_column=owned_by("servers.id"))


class ServerCredential(SQLModel, table=True):
    """A header that goes along with every request to a server: ``sealed``, encrypted for exactly
    this server, address and header (`app.vault`), or a ``reference``, ``Bearer ${VAR}``.
    """

    __tablename__ = "server_credentials"

    server_id: int = Field(
        sa_column=Column(
            ForeignKey("servers.id", ondelete="CASCADE"), primary_key=True, nullable=False
        )
    )
    header: str = Field(primary_key=True, max_length=100)  # in lower case
    name: str = Field(max_length=100)  # as it was entered
    reference: str = Field(max_length=128)
    sealed: bytes | None = Field(
        default=None, repr=False, sa_column=Column(LargeBinary, nullable=True)
    )
    set_at: datetime = Field(default_factory=now, sa_column=utc_time())
