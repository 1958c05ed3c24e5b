"""What people let views do, and the questions that were put to them."""

from datetime import datetime

from sqlalchemy import Column, Text
from sqlmodel import Field, SQLModel

from app.db.tables.base import now, owned_by, utc_time


class Grant(SQLModel, table=True):
    """One person's leave for one tool of one view in one session, until it is revoked. ``id`` is
    a hash of all four and of the server: there is one row, however often it is given.
    """

    __tablename__ = "grants"

    id: str = Field(primary_key=True, max_length=64)
    user_id: str = Field(sa_column=owned_by("users.id"))
    session_id: str = Field(sa_column=owned_by("sessions.id"))
    server_id: int = Field(sa_column=owned_by("servers.id"))
    principal: str = Field(sa_column=Column(Text, nullable=False))  # view:<server>/<tool>
    tool: str = Field(sa_column=Column(Text, nullable=False))  # the one that may be called
    created_at: datetime = Field(default_factory=now, sa_column=utc_time())


class Approval(SQLModel, table=True):
    """A question that was put to one sign-in. ``digest`` covers everything that was asked: panel,
    server, tool and arguments. The browser holds the token; the row holds only its SHA-256.
    """

    __tablename__ = "approvals"

    token_hash: str = Field(primary_key=True, max_length=64)
    login_id: str = Field(sa_column=owned_by("login_sessions.id"))
    digest: str = Field(max_length=64)
    expires_at: datetime = Field(sa_column=utc_time(index=True))
    used_at: datetime | None = Field(default=None, sa_column=utc_time(nullable=True))
