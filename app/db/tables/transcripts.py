"""Sessions and their transcripts; texts are kept as they came."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Text,
    UniqueConstraint,
)
from sqlmodel import Field, SQLModel

from app.db.tables.base import new_id, now, owned_by, utc_time


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
    started_at: datetime | None = Field(default=None, sa_column=utc_time(nullable=True))
    updated_at: datetime = Field(default_factory=now, sa_column=utc_time(index=True))
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
    session_id: str = Field(sa_column=owned_by("sessions.id", index=False))
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
    deleted_at: datetime = Field(default_factory=now, sa_column=utc_time())


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
    at: datetime | None = Field(default=None, sa_column=utc_time(nullable=True))
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
    read_at: datetime = Field(default_factory=now, sa_column=utc_time())


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
    session_id: str = Field(sa_column=owned_by("sessions.id", index=False))
    transcript_id: int = Field(sa_column=owned_by("transcripts.id", index=False))
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
