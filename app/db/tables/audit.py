"""What people and views did here: never what they said, and never with which credentials."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import BigInteger, Column, Index, Integer, String, Text
from sqlmodel import Field, SQLModel

from app.db.tables.base import now, utc_time


class AuditKind(StrEnum):
    TOOL_CALL = "tool_call"
    RESOURCE_READ = "resource_read"
    LISTING = "listing"  # answered from Vitrine's own copy of what the server lists
    VIEW_REQUEST = "view_request"  # of a view, and not looked at further
    MESSAGE = "message"
    CONTEXT = "context"
    LINK = "link"
    DOWNLOAD = "download"
    GRANT = "grant"
    SETTING = "setting"
    SIGN_IN = "sign_in"
    SIGN_OUT = "sign_out"
    SESSION_DELETE = "session_delete"
    OTHER = "other"


class AuditOutcome(StrEnum):
    OK = "ok"
    ERROR = "error"  # the server's own, or Vitrine's
    REFUSED = "refused"  # by a rule: unknown tool, server off, wrong form
    DENIED = "denied"  # by a person, a grant or a missing right
    ASKED = "asked"  # a person is to say yes first
    LIMITED = "limited"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"  # nobody waited any more


def _text(length: int) -> Column[str]:
    return Column(String(length), nullable=False)


def _number() -> Column[int]:
    return Column(BigInteger, nullable=False)


class AuditEvent(SQLModel, table=True):
    """One deed, or several alike in a row: ``count`` of them from ``at`` to ``last_at``.

    Nothing here refers to another table: the row outlives the person, the session and the server
    that it names. ``fold_key`` is set while the row may still grow.
    """

    __tablename__ = "audit_events"
    # Each filter of the page by itself, in the page's order.
    __table_args__ = (
        Index("ix_audit_events_last", "last_at", "id"),
        Index("ix_audit_events_kind", "kind", "last_at", "id"),
        Index("ix_audit_events_outcome", "outcome", "last_at", "id"),
        Index("ix_audit_events_server", "server", "last_at", "id"),
        Index("ix_audit_events_person", "person", "last_at", "id"),
        Index("ix_audit_events_session", "session_id", "last_at", "id"),
        Index("ix_audit_events_fold", "fold_key", unique=True),
    )

    id: int | None = Field(
        default=None,
        sa_column=Column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    )
    at: datetime = Field(default_factory=now, sa_column=utc_time())
    last_at: datetime = Field(default_factory=now, sa_column=utc_time())
    count: int = Field(default=1, sa_column=_number())
    kind: str = Field(sa_column=_text(32))
    outcome: str = Field(sa_column=_text(16))
    person_id: str = Field(default="", sa_column=_text(32))
    person: str = Field(default="", sa_column=_text(64))  # the name at that time
    login_id: str = Field(default="", sa_column=_text(32))
    session_id: str = Field(default="", sa_column=_text(64))
    tool_call_id: str = Field(default="", sa_column=Column(Text, nullable=False))
    address: str = Field(default="", sa_column=_text(40))
    principal: str = Field(sa_column=Column(Text, nullable=False))  # view:<server>/<tool>, person
    server: str = Field(default="", sa_column=_text(256))
    tool: str = Field(default="", sa_column=Column(Text, nullable=False))
    # What else it was done to: a masked address, an origin, a route's name, a client's network.
    about: str = Field(default="", sa_column=Column(Text, nullable=False))
    latency_ms: int = Field(default=0, sa_column=_number())  # of all together
    latency_max_ms: int = Field(default=0, sa_column=_number())
    request_bytes: int = Field(default=0, sa_column=_number())  # of all together
    result_bytes: int = Field(default=0, sa_column=_number())
    arguments_hash: str = Field(default="", sa_column=_text(64))  # or "varied"
    fold_key: str | None = Field(default=None, sa_column=Column(String(64), nullable=True))
