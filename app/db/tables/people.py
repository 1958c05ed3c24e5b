"""Who signs in, and what was chosen in the browser."""

from datetime import datetime

from sqlalchemy import Column, String, Text
from sqlmodel import Field, SQLModel

from app.db.tables.base import new_id, now, owned_by, utc_time


class Setting(SQLModel, table=True):
    """What an operator chose in the browser; ``value`` is JSON."""

    __tablename__ = "settings"

    key: str = Field(primary_key=True, max_length=64)
    value: str = Field(sa_column=Column(Text, nullable=False))


class User(SQLModel, table=True):
    __tablename__ = "users"

    id: str = Field(default_factory=new_id, primary_key=True, max_length=32)
    name: str = Field(sa_column=Column(String(64), nullable=False, unique=True))
    password_hash: str | None = Field(default=None, sa_column=Column(Text, nullable=True))  # argon2
    created_at: datetime = Field(default_factory=now, sa_column=utc_time())


class LoginSession(SQLModel, table=True):
    """A signed-in browser. The cookie holds the token; the row holds only its SHA-256."""

    __tablename__ = "login_sessions"

    id: str = Field(default_factory=new_id, primary_key=True, max_length=32)
    token_hash: str = Field(max_length=64, unique=True)
    user_id: str = Field(sa_column=owned_by("users.id"))
    created_at: datetime = Field(default_factory=now, sa_column=utc_time())
    expires_at: datetime = Field(sa_column=utc_time(index=True))


class SignInLink(SQLModel, table=True):
    """The one-time link that a start prints; the row holds the token's SHA-256."""

    __tablename__ = "sign_in_links"

    token_hash: str = Field(primary_key=True, max_length=64)
    expires_at: datetime = Field(sa_column=utc_time())
    used_at: datetime | None = Field(default=None, sa_column=utc_time(nullable=True))
