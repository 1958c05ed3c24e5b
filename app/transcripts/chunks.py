"""A transcript's bytes in compressed chunks: written in order, read by position.

The chunks of a transcript, one after the other, are the bytes that were read from its file.
Where one ends depends on the bytes alone, not on how they arrived.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import zstandard
from sqlalchemy import Connection, delete, insert, select
from sqlmodel import Session, SQLModel

from app.db import tables  # noqa: F401 -- defines the tables named below

CHUNK_BYTES = 256 * 1024
# A line above this is stored, in pieces, and never decoded.
MAX_LINE_BYTES = 64 * 1024 * 1024
PIECE_BYTES = 16 * 1024 * 1024
_LEVEL = 3
_CHUNKS = SQLModel.metadata.tables["chunks"]


def compress(data: bytes | bytearray) -> bytes:
    return zstandard.ZstdCompressor(level=_LEVEL).compress(data)


def decompress(data: bytes, size: int) -> bytes:
    return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)


@dataclass(slots=True)
class ChunkWriter:
    """Where the next line goes. The last chunk grows; a full one is sealed."""

    transcript_id: int
    number: int = 0
    first_byte: int = 0
    tail: bytearray = field(default_factory=bytearray)
    _sealed: list[dict[str, object]] = field(default_factory=list)

    @classmethod
    def resume(cls, connection: Connection, transcript_id: int) -> "ChunkWriter":
        """At the end of what is stored."""
        chunk = connection.execute(
            select(_CHUNKS)
            .where(_CHUNKS.c.transcript_id == transcript_id)
            .order_by(_CHUNKS.c.number.desc())
            .limit(1)
        ).first()
        if chunk is None:
            return cls(transcript_id)
        tail = bytearray(decompress(chunk.data, chunk.size))
        return cls(transcript_id, chunk.number, chunk.first_byte, tail)

    def add(self, line: bytes) -> tuple[int, int]:
        """Store a line (given without its newline). Returns its chunk's number and its place
        there.
        """
        if self.tail and len(self.tail) + len(line) + 1 > CHUNK_BYTES:
            self._seal()
        place = (self.number, len(self.tail))
        self.tail += line
        self.tail += b"\n"
        return place

    def add_pieces(self, connection: Connection, pieces: Iterable[bytes]) -> tuple[int, int]:
        """Store one line that is too large to hold, given piece by piece (`PIECE_BYTES` each)."""
        if self.tail:
            self._seal()
        place = (self.number, 0)
        for piece in pieces:
            if self.tail:
                self._seal()
                self.flush(connection)
            self.tail += piece
        return place

    def _row(self) -> dict[str, object]:
        return {
            "transcript_id": self.transcript_id,
            "number": self.number,
            "first_byte": self.first_byte,
            "size": len(self.tail),
            "data": compress(self.tail),
        }

    def _seal(self) -> None:
        self._sealed.append(self._row())
        self.number += 1
        self.first_byte += len(self.tail)
        self.tail = bytearray()

    def flush(self, connection: Connection) -> None:
        """Write what was added since the last flush, in the caller's transaction."""
        rows = [*self._sealed, self._row()] if self.tail else self._sealed
        if not rows:
            return
        # The tail grows: its row is written anew.
        connection.execute(
            delete(_CHUNKS).where(
                _CHUNKS.c.transcript_id == self.transcript_id,
                _CHUNKS.c.number >= rows[0]["number"],
            )
        )
        connection.execute(insert(_CHUNKS), rows)
        self._sealed = []


# A tuple and not a dataclass: a window hashes hundreds.
class Place(NamedTuple):
    """Where a line is: chunk number, first byte in the uncompressed chunk, size."""

    chunk: int
    offset: int
    size: int


def read_lines(
    db: Session, transcript_id: int, places: Iterable[Place]
) -> Iterator[tuple[Place, bytes]]:
    """The lines at ``places`` (in any order, each once), a chunk at a time. Only those chunks are
    read.
    """
    by_chunk: dict[int, set[Place]] = defaultdict(set)
    for place in places:
        by_chunk[place.chunk].add(place)
    numbers = sorted(by_chunk)
    for start in range(0, len(numbers), 50):
        rows = db.execute(
            select(_CHUNKS.c.number, _CHUNKS.c.size, _CHUNKS.c.data).where(
                _CHUNKS.c.transcript_id == transcript_id,
                _CHUNKS.c.number.in_(numbers[start : start + 50]),
            )
        )
        for number, size, data in rows:
            chunk = decompress(data, size)
            for place in by_chunk[number]:
                yield place, chunk[place.offset : place.offset + place.size]
