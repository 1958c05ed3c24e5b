"""MCP servers that the operator added."""

from datetime import datetime

from sqlalchemy import JSON, Column, String, Text
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
    # What it was last spoken to in ("2025-11-25"): saves the first try. None: not known.
    protocol: str | None = Field(default=None, sa_column=Column(String(16), nullable=True))
    # What its views are granted in the browser ("geolocation", …).
    permissions: list[str] = Field(
        default_factory=list, sa_column=Column(JSON, nullable=False, server_default="[]")
    )
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
