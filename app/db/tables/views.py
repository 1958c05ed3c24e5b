"""Documents of views, what was copied of their servers, and what views said."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, Column, Index, LargeBinary, Text
from sqlmodel import Field, SQLModel

from app.db.tables.base import new_id, now, owned_by, utc_time


class Fragment(SQLModel, table=True):
    """A view's document, by the SHA-256 of its UTF-8 bytes; ``data`` is compressed with zstd."""

    __tablename__ = "fragments"

    content_hash: str = Field(primary_key=True, max_length=64)
    size: int
    data: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    created_at: datetime = Field(default_factory=now, sa_column=utc_time())


class ToolIndexCopy(SQLModel, table=True):
    """The last ``tools/list`` of a server, as one credential saw it: for a start without it."""

    __tablename__ = "tool_indexes"

    url: str = Field(sa_column=Column(Text, primary_key=True, nullable=False))
    fingerprint: str = Field(primary_key=True, max_length=64)  # of the credential: Target.key
    data: bytes = Field(sa_column=Column(LargeBinary, nullable=False))  # JSON, zstd
    read_at: datetime = Field(default_factory=now, sa_column=utc_time())


class FragmentCopy(SQLModel, table=True):
    """Which document a server last gave for a ``ui://`` address, and what it declared with it."""

    __tablename__ = "fragment_copies"

    url: str = Field(sa_column=Column(Text, primary_key=True, nullable=False))
    fingerprint: str = Field(primary_key=True, max_length=64)
    uri: str = Field(sa_column=Column(Text, primary_key=True, nullable=False))
    content_hash: str = Field(sa_column=owned_by("fragments.content_hash"))
    declared: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))  # _meta.ui
    read_at: datetime = Field(default_factory=now, sa_column=utc_time())


class Ticket(SQLModel, table=True):
    """Leave to load one document once, for one sign-in and one panel, within a minute."""

    __tablename__ = "tickets"

    token_hash: str = Field(primary_key=True, max_length=64)
    login_id: str = Field(sa_column=owned_by("login_sessions.id"))
    session_id: str = Field(sa_column=owned_by("sessions.id"))
    tool_call_id: str = Field(sa_column=Column(Text, nullable=False))
    content_hash: str = Field(sa_column=owned_by("fragments.content_hash"))
    nonce: str = Field(max_length=64)
    headers: dict[str, str] = Field(sa_column=Column(JSON, nullable=False))
    expires_at: datetime = Field(sa_column=utc_time(index=True))
    used_at: datetime | None = Field(default=None, sa_column=utc_time(nullable=True))


class MessageKind(StrEnum):
    MESSAGE = "message"  # ui/message
    CONTEXT = "context"  # ui/update-model-context


class MessageState(StrEnum):
    HELD = "held"  # waits for a person
    REPLACED = "replaced"  # a later context update of the same view took its place


class ViewMessage(SQLModel, table=True):
    """The outbox: what a view said to the agent. Always third-party text."""

    __tablename__ = "view_messages"
    __table_args__ = (Index("ix_view_messages_view", "session_id", "tool_call_id"),)

    id: str = Field(default_factory=new_id, primary_key=True, max_length=32)
    session_id: str = Field(sa_column=owned_by("sessions.id", index=False))
    tool_call_id: str = Field(sa_column=Column(Text, nullable=False))
    address: str = Field(max_length=32)
    server: str = Field(sa_column=Column(Text, nullable=False))
    tool: str = Field(sa_column=Column(Text, nullable=False))
    kind: str = Field(max_length=16)
    state: str = Field(default=MessageState.HELD, max_length=16)
    text: str = Field(sa_column=Column(Text, nullable=False))
    taint: str = Field(
        sa_column=Column(Text, nullable=False)
    )  # the view's principal: view:<server>/<tool>
    created_at: datetime = Field(default_factory=now, sa_column=utc_time(index=True))
