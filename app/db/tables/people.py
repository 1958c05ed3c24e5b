"""Who signs in, and what was chosen in the browser."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import JSON, Column, ForeignKey, String, Text
from sqlmodel import Field, SQLModel

from app.db.tables.base import new_id, now, owned_by, utc_time


class Setting(SQLModel, table=True):
    """What an operator chose in the browser; ``value`` is JSON."""

    __tablename__ = "settings"

    key: str = Field(primary_key=True, max_length=64)
    value: str = Field(sa_column=Column(Text, nullable=False))


class Role(StrEnum):
    OPERATOR = "operator"  # may do everything
    VIEWER = "viewer"  # reads; changes nothing but their own sign-in


class User(SQLModel, table=True):
    __tablename__ = "users"

    id: str = Field(default_factory=new_id, primary_key=True, max_length=32)
    name: str = Field(sa_column=Column(String(64), nullable=False, unique=True))  # lower case
    role: str = Field(
        default=Role.OPERATOR,
        sa_column=Column(String(16), nullable=False, server_default=Role.OPERATOR.value),
    )
    password_hash: str | None = Field(default=None, sa_column=Column(Text, nullable=True))  # argon2
    created_at: datetime = Field(default_factory=now, sa_column=utc_time())


class LoginSession(SQLModel, table=True):
    """A signed-in browser. The cookie holds the token; the row holds only its SHA-256. Whom a
    reverse proxy signs in has one row for all browsers, whose ``token_hash`` no token has.
    """

    __tablename__ = "login_sessions"

    id: str = Field(default_factory=new_id, primary_key=True, max_length=32)
    token_hash: str = Field(max_length=64, unique=True)
    user_id: str = Field(sa_column=owned_by("users.id"))
    created_at: datetime = Field(default_factory=now, sa_column=utc_time())
    expires_at: datetime = Field(sa_column=utc_time(index=True))


class SignInLink(SQLModel, table=True):
    """A one-time link; the row holds the token's SHA-256. Without a person it is the operator's."""

    __tablename__ = "sign_in_links"

    token_hash: str = Field(primary_key=True, max_length=64)
    expires_at: datetime = Field(sa_column=utc_time())
    used_at: datetime | None = Field(default=None, sa_column=utc_time(nullable=True))
    user_id: str | None = Field(
        default=None,
        sa_column=Column(ForeignKey("users.id", ondelete="CASCADE"), nullable=True, index=True),
    )


class Scope(StrEnum):
    """What an API token may do. ``push`` and ``deliver`` are known so that stored tokens and the
    rights of roles are settled once; no route of this version uses them, so none is given out.
    """

    READ = "read"  # sessions
    PUSH = "push"  # transcripts, from an agent's machine
    DELIVER = "deliver"  # messages, to an agent


class ApiToken(SQLModel, table=True):
    """Leave for a program to use ``/api/v1`` as a person; the row holds the token's SHA-256."""

    __tablename__ = "api_tokens"

    id: str = Field(default_factory=new_id, primary_key=True, max_length=32)
    token_hash: str = Field(max_length=64, unique=True)
    name: str = Field(sa_column=Column(String(64), nullable=False))
    scopes: list[str] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))
    user_id: str = Field(sa_column=owned_by("users.id"))
    created_at: datetime = Field(default_factory=now, sa_column=utc_time())
    used_at: datetime | None = Field(default=None, sa_column=utc_time(nullable=True))
    expires_at: datetime | None = Field(default=None, sa_column=utc_time(nullable=True))
