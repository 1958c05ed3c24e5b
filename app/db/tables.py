"""Every table. Times are UTC and timezone-aware; texts from transcripts are kept as they came."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from uuid import uuid4

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
)
from sqlmodel import Field, SQLModel


def now() -> datetime:
    return datetime.now(UTC)


def new_id() -> str:
    """A public, unguessable id: 32 hexadecimal digits."""
    return uuid4().hex


class UtcDateTime(TypeDecorator[datetime]):
    """SQLite forgets the zone of a time; this gives it back, so that both databases agree."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is not None and value.tzinfo is None:
            raise ValueError("a time without a zone cannot be stored")
        return value.astimezone(UTC) if value else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is not None and value.tzinfo is None:
            return value.replace(tzinfo=UTC)
        return value


def _time(*, nullable: bool = False, index: bool = False) -> Any:
    return Column(UtcDateTime(), nullable=nullable, index=index)


def _owned_by(target: str, *, index: bool = True) -> Any:
    """A foreign key whose rows go when their owner goes."""
    return Column(ForeignKey(target, ondelete="CASCADE"), nullable=False, index=index)


class Session(SQLModel, table=True):
    """One agent conversation. Its identity is that of its main transcript (source, path):
    two machines may share an ``external_id`` and stay apart.
    """

    __tablename__ = "sessions"

    id: str = Field(default_factory=new_id, primary_key=True, max_length=32)
    source: str = Field(sa_column=Column(Text, nullable=False))  # the machine; "local" here
    agent: str = Field(max_length=32)  # "claude-code"
    external_id: str = Field(sa_column=Column(Text, nullable=False, index=True))
    title: str = Field(default="", sa_column=Column(Text, nullable=False))
    folder: str = Field(default="", sa_column=Column(Text, nullable=False))
    started_at: datetime | None = Field(default=None, sa_column=_time(nullable=True))
    updated_at: datetime = Field(default_factory=now, sa_column=_time(index=True))
    call_count: int = 0
    entry_count: int = 0


class Transcript(SQLModel, table=True):
    """One append-only file: a session's main transcript (``number`` 0) or a sub-agent's."""

    __tablename__ = "transcripts"
    __table_args__ = (
        UniqueConstraint("source", "path"),
        UniqueConstraint("session_id", "number"),
    )

    id: int | None = Field(default=None, primary_key=True)
    session_id: str = Field(sa_column=_owned_by("sessions.id", index=False))
    number: int  # the first part of an entry address
    agent_id: str = Field(default="", sa_column=Column(Text, nullable=False))  # a sub-agent's own
    source: str = Field(sa_column=Column(Text, nullable=False))
    path: str = Field(sa_column=Column(Text, nullable=False))
    bytes_read: int = Field(default=0, sa_column=Column(BigInteger, nullable=False))
    head_hash: str = Field(default="", max_length=64)  # of the first bytes: a replaced file shows
    entry_count: int = 0
    ignored_count: int = 0  # lines of a type that this version does not know
    # The last line of its tree, by which the next one is found to go back: see Branch.
    leaf: str = Field(default="", sa_column=Column(Text, nullable=False, server_default=""))
    # app.transcripts.search_index.VERSION when its entries were put there; 0: they are not.
    indexed_as: int = Field(
        default=0, sa_column=Column(Integer, nullable=False, server_default="0")
    )


class DeletedTranscript(SQLModel, table=True):
    """A transcript that a person deleted: its file, where it is still there, is not read again.
    Only a hash of its place is kept.
    """

    __tablename__ = "deleted_transcripts"

    path_hash: str = Field(primary_key=True, max_length=64)
    deleted_at: datetime = Field(default_factory=now, sa_column=_time())


class Chunk(SQLModel, table=True):
    """About 256 KiB of a transcript, compressed with zstd. The last one grows until it is full."""

    __tablename__ = "chunks"

    transcript_id: int = Field(
        sa_column=Column(
            ForeignKey("transcripts.id", ondelete="CASCADE"), primary_key=True, nullable=False
        )
    )
    number: int = Field(primary_key=True)
    first_byte: int = Field(sa_column=Column(BigInteger, nullable=False))  # offset in the file
    size: int  # uncompressed bytes
    data: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class Entry(SQLModel, table=True):
    """Index row of one normalized item. A line may hold several items, told apart by ``block``."""

    __tablename__ = "entries"

    transcript_id: int = Field(
        sa_column=Column(
            ForeignKey("transcripts.id", ondelete="CASCADE"), primary_key=True, nullable=False
        )
    )
    seq: int = Field(primary_key=True)
    kind: str = Field(max_length=16)  # app.transcripts.formats.base.Kind
    at: datetime | None = Field(default=None, sa_column=_time(nullable=True))
    chunk: int  # Chunk.number
    offset: int  # of the line's first byte in the uncompressed chunk
    size: int  # bytes of the line, without its newline
    block: int = 0
    tool_call_id: str | None = Field(default=None, sa_column=Column(Text, nullable=True))


class Branch(SQLModel, table=True):
    """An entry at which the conversation went back to an earlier one: what lies between the two
    is no part of what the agent knew from then on.
    """

    __tablename__ = "branches"

    transcript_id: int = Field(
        sa_column=Column(
            ForeignKey("transcripts.id", ondelete="CASCADE"), primary_key=True, nullable=False
        )
    )
    seq: int = Field(primary_key=True)
    parent_seq: int


class SideFile(SQLModel, table=True):
    """A file that an agent wrote beside a session's transcript instead of into it: a result that
    was too large, or no text. ``data`` is compressed with zstd.
    """

    __tablename__ = "side_files"

    session_id: str = Field(
        sa_column=Column(
            ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True, nullable=False
        )
    )
    name: str = Field(sa_column=Column(Text, primary_key=True, nullable=False))
    size: int
    data: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class SessionServer(SQLModel, table=True):
    """A server as the agent's configuration named it when a session was read. ``url`` is as it
    stood there, ``${VAR}`` and all; "" for a program that the agent starts. Of its headers there
    are the names, and of a value what is a reference to a variable: never a value itself.
    """

    __tablename__ = "session_servers"

    session_id: str = Field(
        sa_column=Column(
            ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True, nullable=False
        )
    )
    name: str = Field(sa_column=Column(Text, primary_key=True, nullable=False))
    url: str = Field(sa_column=Column(Text, nullable=False, index=True))
    transport: str = Field(max_length=16)  # as Server.transport
    headers: dict[str, str] = Field(sa_column=Column(JSON, nullable=False))
    origin: str = Field(max_length=16)  # app.transcripts.agent_config.Origin
    read_at: datetime = Field(default_factory=now, sa_column=_time())


class CallState(StrEnum):
    PENDING = "pending"  # no result in the transcript yet
    DONE = "done"
    FAILED = "failed"  # the result says isError, or the agent recorded an error
    INTERRUPTED = "interrupted"


class ToolCall(SQLModel, table=True):
    """The agent's call and where its result is. ``tool_call_id`` is the agent's own."""

    __tablename__ = "tool_calls"
    __table_args__ = (
        UniqueConstraint("transcript_id", "tool_call_id"),
        Index("ix_tool_calls_session_name", "session_id", "name"),
        Index("ix_tool_calls_entry", "transcript_id", "call_seq"),
    )

    id: int | None = Field(default=None, primary_key=True)
    session_id: str = Field(sa_column=_owned_by("sessions.id", index=False))
    transcript_id: int = Field(sa_column=_owned_by("transcripts.id", index=False))
    tool_call_id: str = Field(sa_column=Column(Text, nullable=False))
    name: str = Field(sa_column=Column(Text, nullable=False))  # as recorded: mcp__server__tool
    # Where an agent records them: the names before it joined and normalised them, and the view.
    server: str | None = Field(default=None, sa_column=Column(Text, nullable=True))
    tool: str | None = Field(default=None, sa_column=Column(Text, nullable=True))
    resource_uri: str | None = Field(default=None, sa_column=Column(Text, nullable=True))
    call_seq: int
    result_seq: int | None = None
    state: str = Field(default=CallState.PENDING, max_length=16)
    # The sub-agent that it started: Transcript.agent_id, whether that is here or not.
    agent_id: str | None = Field(default=None, sa_column=Column(Text, nullable=True))


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
    created_at: datetime = Field(default_factory=now, sa_column=_time())


class ServerName(SQLModel, table=True):
    """A name in a session's configuration, resolved to a server. A name gives no trust."""

    __tablename__ = "server_names"

    name: str = Field(sa_column=Column(Text, primary_key=True, nullable=False))
    server_id: int = Field(sa_column=_owned_by("servers.id"))


class Fragment(SQLModel, table=True):
    """A view's document, by the SHA-256 of its UTF-8 bytes; ``data`` is compressed with zstd."""

    __tablename__ = "fragments"

    content_hash: str = Field(primary_key=True, max_length=64)
    size: int
    data: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    created_at: datetime = Field(default_factory=now, sa_column=_time())


class ToolIndexCopy(SQLModel, table=True):
    """The last ``tools/list`` of a server, as one credential saw it: for a start without it."""

    __tablename__ = "tool_indexes"

    url: str = Field(sa_column=Column(Text, primary_key=True, nullable=False))
    fingerprint: str = Field(primary_key=True, max_length=64)  # of the credential: Target.key
    data: bytes = Field(sa_column=Column(LargeBinary, nullable=False))  # JSON, zstd
    read_at: datetime = Field(default_factory=now, sa_column=_time())


class FragmentCopy(SQLModel, table=True):
    """Which document a server last gave for a ``ui://`` address, and what it declared with it."""

    __tablename__ = "fragment_copies"

    url: str = Field(sa_column=Column(Text, primary_key=True, nullable=False))
    fingerprint: str = Field(primary_key=True, max_length=64)
    uri: str = Field(sa_column=Column(Text, primary_key=True, nullable=False))
    content_hash: str = Field(sa_column=_owned_by("fragments.content_hash"))
    declared: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))  # _meta.ui
    read_at: datetime = Field(default_factory=now, sa_column=_time())


class Ticket(SQLModel, table=True):
    """Leave to load one document once, for one sign-in and one panel, within a minute."""

    __tablename__ = "tickets"

    token_hash: str = Field(primary_key=True, max_length=64)
    login_id: str = Field(sa_column=_owned_by("login_sessions.id"))
    session_id: str = Field(sa_column=_owned_by("sessions.id"))
    tool_call_id: str = Field(sa_column=Column(Text, nullable=False))
    content_hash: str = Field(sa_column=_owned_by("fragments.content_hash"))
    nonce: str = Field(max_length=64)
    headers: dict[str, str] = Field(sa_column=Column(JSON, nullable=False))
    expires_at: datetime = Field(sa_column=_time(index=True))
    used_at: datetime | None = Field(default=None, sa_column=_time(nullable=True))


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
    session_id: str = Field(sa_column=_owned_by("sessions.id", index=False))
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
    created_at: datetime = Field(default_factory=now, sa_column=_time(index=True))


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
    created_at: datetime = Field(default_factory=now, sa_column=_time())


class LoginSession(SQLModel, table=True):
    """A signed-in browser. The cookie holds the token; the row holds only its SHA-256."""

    __tablename__ = "login_sessions"

    id: str = Field(default_factory=new_id, primary_key=True, max_length=32)
    token_hash: str = Field(max_length=64, unique=True)
    user_id: str = Field(sa_column=_owned_by("users.id"))
    created_at: datetime = Field(default_factory=now, sa_column=_time())
    expires_at: datetime = Field(sa_column=_time(index=True))


class SignInLink(SQLModel, table=True):
    """The one-time link that a start prints; the row holds the token's SHA-256."""

    __tablename__ = "sign_in_links"

    token_hash: str = Field(primary_key=True, max_length=64)
    expires_at: datetime = Field(sa_column=_time())
    used_at: datetime | None = Field(default=None, sa_column=_time(nullable=True))
