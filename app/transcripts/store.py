"""Appending to a stored transcript: bytes, index rows, calls and the session's facts commit
together, so that an import that is killed goes on where it stopped.
"""

from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, delete, select, update
from sqlmodel import Session, SQLModel

from app.db import tables
from app.transcripts import search_index
from app.transcripts.batch import Batch
from app.transcripts.chunks import MAX_LINE_BYTES, PIECE_BYTES, ChunkWriter
from app.transcripts.formats.base import Format

HEAD_BYTES = 4096

# "When nothing is known": every real time is later.
NEVER = datetime.fromisoformat("1970-01-01T00:00:00+00:00")

_SESSIONS = SQLModel.metadata.tables["sessions"]
_TRANSCRIPTS = SQLModel.metadata.tables["transcripts"]
_OWNED = [SQLModel.metadata.tables[name] for name in ("entries", "chunks", "branches")]
_CALLS = SQLModel.metadata.tables["tool_calls"]


class StaleTranscriptError(Exception):
    """Another process appended to the same transcript meanwhile: start again from the database."""


def head_hash(head: bytes) -> str:
    """Of a file's first bytes: at most `HEAD_BYTES`, and no more than were read."""
    return sha256(head[:HEAD_BYTES]).hexdigest()


class Appender:
    """Appends to one transcript, batch by batch. Use one instance as long as every batch's
    transaction committed; after a failure make a new one from the database.
    """

    def __init__(self, db: Session, transcript: tables.Transcript, fmt: Format) -> None:
        if transcript.id is None:
            raise ValueError("the transcript has not been stored yet")
        self._format = fmt
        self._transcript_id = transcript.id
        self._main = transcript.number == 0
        self._chunks = ChunkWriter.resume(db.connection(), transcript.id)
        self.session_id = transcript.session_id
        self.bytes_read = transcript.bytes_read
        self.entry_count = transcript.entry_count
        self._leaf = transcript.leaf

    @property
    def tail(self) -> tuple[int, bytes]:
        """The last chunk's place in the file and its bytes."""
        return self._chunks.first_byte, bytes(self._chunks.tail)

    def reset(self, db: Session) -> None:
        """Forget everything stored, in the caller's transaction, to read the file again. Raises
        `StaleTranscriptError`.
        """
        connection = db.connection()
        self._claim(connection, 0, entry_count=0, ignored_count=0, head_hash="", leaf="")
        search_index.remove(db, self._transcript_id, self._format)
        calls = connection.execute(
            delete(_CALLS).where(_CALLS.c.transcript_id == self._transcript_id)
        )
        for table in _OWNED:
            connection.execute(delete(table).where(table.c.transcript_id == self._transcript_id))
        forgotten: dict[str, Any] = {"title": "", "started_at": None} if self._main else {}
        self._add_to_session(connection, -self.entry_count, -calls.rowcount, forgotten)
        self.bytes_read = self.entry_count = 0
        self._leaf = ""
        self._chunks = ChunkWriter(self._transcript_id)

    def append(self, db: Session, data: bytes, head: bytes) -> int:
        """Add whole lines (each with its newline), in the caller's transaction. ``head`` is the
        file's first `HEAD_BYTES` bytes. Returns the number of new entries. Raises
        `StaleTranscriptError`.
        """
        batch = self._batch()
        connection = db.connection()
        start = 0
        while start < len(data):
            end = data.index(b"\n", start)
            if end + 1 - start > MAX_LINE_BYTES:
                cuts = range(start, end + 1, PIECE_BYTES)
                pieces = (data[cut : min(cut + PIECE_BYTES, end + 1)] for cut in cuts)
                batch.too_large(connection, pieces, end + 1 - start)
            else:
                batch.line(data[start:end])
            start = end + 1
        return self._write(connection, batch, len(data), head)

    def append_too_large(self, db: Session, pieces: Iterable[bytes], size: int, head: bytes) -> int:
        """Add one line above `MAX_LINE_BYTES`, newline included, in pieces of `PIECE_BYTES`."""
        batch = self._batch()
        batch.too_large(db.connection(), pieces, size)
        return self._write(db.connection(), batch, size, head)

    def _batch(self) -> Batch:
        return Batch(
            self.session_id,
            self._transcript_id,
            self.entry_count,
            self._format,
            self._chunks,
            self._leaf,
        )

    def _claim(self, connection: Connection, bytes_read: int, **values: Any) -> None:
        """Move on from where this instance stands, or not at all: it locks the row."""
        done = connection.execute(
            update(_TRANSCRIPTS)
            .where(
                _TRANSCRIPTS.c.id == self._transcript_id,
                _TRANSCRIPTS.c.bytes_read == self.bytes_read,
            )
            .values(bytes_read=bytes_read, **values)
        )
        if done.rowcount != 1:
            raise StaleTranscriptError

    def _write(self, connection: Connection, batch: Batch, size: int, head: bytes) -> int:
        after = self.bytes_read + size
        # Nothing stored means nothing in the search index either, so that it can begin there.
        begun = {} if self.bytes_read else {"indexed_as": search_index.VERSION}
        self._claim(
            connection,
            after,
            **begun,
            entry_count=self.entry_count + batch.entry_count,
            ignored_count=_TRANSCRIPTS.c.ignored_count + batch.ignored,
            head_hash=head_hash(head[:after]),
            leaf=batch.leaf,
        )
        searchable = search_index.is_indexed(connection, self._transcript_id)
        calls = batch.write(connection, searchable=searchable)
        facts = self._facts(connection, batch)
        self._add_to_session(connection, batch.entry_count, calls, facts)
        self.bytes_read = after
        self._leaf = batch.leaf
        self.entry_count += batch.entry_count
        return batch.entry_count

    def _facts(self, connection: Connection, batch: Batch) -> dict[str, Any]:
        """What the batch changes in its session's row."""
        columns = _SESSIONS.c
        known = connection.execute(
            select(columns.title, columns.folder, columns.started_at, columns.updated_at).where(
                columns.id == self.session_id
            )
        ).one()
        values: dict[str, Any] = {"folder": known.folder or batch.facts.folder}
        if batch.facts.last_at:
            # A clock that runs ahead must not keep a session at the top of the list for ever.
            last = min(batch.facts.last_at, tables.now())
            values["updated_at"] = max(last, known.updated_at)
        if self._main:
            values["started_at"] = known.started_at or batch.facts.first_at
            values["title"] = batch.facts.title(known.title)
        return values

    def _add_to_session(
        self, connection: Connection, entries: int, calls: int, values: dict[str, Any]
    ) -> None:
        connection.execute(
            update(_SESSIONS)
            .where(_SESSIONS.c.id == self.session_id)
            .values(
                entry_count=_SESSIONS.c.entry_count + entries,
                call_count=_SESSIONS.c.call_count + calls,
                **values,
            )
        )
