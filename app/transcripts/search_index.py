"""The full text index of entries: what stands in it, and how it is kept on both databases.

It holds words and their places, never text: SQLite's FTS5 is contentless and PostgreSQL stores
lexemes. To take an entry out of FTS5 its text must be given again, exactly as it was put in, so
it is made anew from the stored line; `VERSION` says by which rule that was done.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final
from unicodedata import category, normalize

from sqlalchemy import Connection, select, text, update
from sqlmodel import Session, SQLModel

from app.text import storable
from app.transcripts.chunks import Place, read_lines
from app.transcripts.formats.base import Format, Item, Kind, UnreadableLineError

# Raise it whenever the text of any entry changes: a test over every recorded transcript says so.
VERSION: Final = 1
TEXT_LIMIT: Final = 200_000  # characters of an entry that are looked at
_POSTGRES_BYTES: Final = 400_000  # a tsvector takes a megabyte, places of the words included
_ENTRIES_A_TIME: Final = 1_000
_SEQ_BITS: Final = 32
_SEQS: Final = (1 << _SEQ_BITS) - 1

_ENTRIES = SQLModel.metadata.tables["entries"]
_TRANSCRIPTS = SQLModel.metadata.tables["transcripts"]
# A colour's "m" would stick to the word behind it.
_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~])?")
_NO_WORD: Final = re.compile(r"[\W_]+")
# Pages of the index that one step of a merge writes.
_MERGE_PAGES: Final = 500

Text = tuple[int, str]  # seq, text


def row_id(transcript_id: int, seq: int) -> int:
    """An entry's row in FTS5: a transcript's entries lie together, in their order."""
    return transcript_id << _SEQ_BITS | seq


def entry_of(row: int) -> tuple[int, int]:
    """(transcript id, seq) of a row of FTS5."""
    return row >> _SEQ_BITS, row & _SEQS


def _strings(value: object, found: list[str]) -> None:
    """Every text and number in ``value``, which is not nested too deeply. Keys are left out: they
    are the same in every call.
    """
    if isinstance(value, str):
        found.append(value)
    elif isinstance(value, dict):
        for item in value.values():
            _strings(item, found)
    elif isinstance(value, list):
        for item in value:
            _strings(item, found)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        found.append(str(value))


def entry_text(fmt: Format, line: Mapping[str, Any], kind: Kind, block: int) -> str:
    """What can be found of an entry, as plain text: what is shown of it, folded or not."""
    said = fmt.read(line, block).text
    if kind is Kind.TOOL_CALL:
        # A result that stands for its call says something too.
        call = fmt.call(line, block)
        found = [call.name]
        _strings(call.arguments, found)
        found.append(said)
        said = "\n".join(found)
    said = said[:TEXT_LIMIT]
    return _ESCAPE.sub(" ", said) if "\x1b" in said else said


class Texts:
    """The texts of a batch of entries on their way into the index."""

    def __init__(self, fmt: Format) -> None:
        self._format = fmt
        self._texts: dict[int, str] = {}
        self._stand_ins: dict[int, tuple[Mapping[str, Any], int]] = {}

    def line(self, line: bytes, first_seq: int, items: Sequence[Item]) -> None:
        """A line whose entries get the numbers from ``first_seq`` on."""
        if not items:
            return  # half of an agent's lines; to parse one whole costs more than to index it
        try:
            decoded = self._format.decode(line)
        except UnreadableLineError:
            return
        for seq, item in enumerate(items, first_seq):
            if item.kind is Kind.UNREADABLE:
                continue
            self._texts[seq] = entry_text(self._format, decoded, item.kind, item.block)
            if item.tool_name and item.kind is not Kind.TOOL_CALL:
                self._stand_ins[seq] = decoded, item.block

    def stands_for_call(self, seq: int) -> None:
        """The result at ``seq`` turned out to be its call's entry as well."""
        line, block = self._stand_ins[seq]
        self._texts[seq] = entry_text(self._format, line, Kind.TOOL_CALL, block)

    def write(self, connection: Connection, transcript_id: int) -> None:
        add(connection, transcript_id, self._texts.items())


def normal(words: str) -> str:
    """``words`` as FTS5's tokenizer sees them: letters and digits only, small, without accents."""
    if not words.isascii():
        spread = normalize("NFKD", words)
        words = "".join(char for char in spread if category(char) != "Mn")
    spaced = _NO_WORD.sub(" ", words).lower().encode("utf-8", "replace")
    return spaced[:_POSTGRES_BYTES].decode("utf-8", "ignore")


def add(connection: Connection, transcript_id: int, texts: Iterable[Text]) -> None:
    """Put entries in, in the caller's transaction."""
    filled = [(seq, said) for seq, said in texts if said]
    if not filled:
        return
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(
            "INSERT INTO search_index (rowid, words) VALUES (?, ?)",
            [(row_id(transcript_id, seq), storable(said)) for seq, said in filled],
        )
        return
    connection.exec_driver_sql(
        "INSERT INTO search_index (transcript_id, seq, words)"
        " SELECT %s, entry.seq, to_tsvector('simple', entry.words)"
        " FROM unnest(%s::integer[], %s::text[]) AS entry (seq, words)",
        (transcript_id, [seq for seq, _ in filled], [normal(said) for _, said in filled]),
    )


def stored_texts(db: Session, transcript_id: int, fmt: Format) -> Iterator[list[Text]]:
    """The texts of a transcript's stored entries, a bounded part at a time."""
    columns = _ENTRIES.c
    last = -1
    while True:
        rows = db.execute(
            select(
                columns.seq,
                columns.kind,
                columns.chunk,
                columns.offset,
                columns.size,
                columns.block,
            )
            .where(
                columns.transcript_id == transcript_id,
                columns.seq > last,
                columns.kind != Kind.UNREADABLE.value,
            )
            .order_by(columns.seq)
            .limit(_ENTRIES_A_TIME)
        ).all()
        if not rows:
            return
        last = rows[-1].seq
        # The lines of a few chunks at a time: a thousand long ones would fill the memory.
        for _, together in groupby(rows, key=lambda row: row.chunk):
            by_place: dict[Place, list[tuple[int, Kind, int]]] = {}
            for row in together:
                entries = by_place.setdefault(Place(row.chunk, row.offset, row.size), [])
                entries.append((row.seq, Kind(row.kind), row.block))
            yield sorted(_texts_at(db, transcript_id, fmt, by_place))


def _texts_at(
    db: Session,
    transcript_id: int,
    fmt: Format,
    entries: Mapping[Place, list[tuple[int, Kind, int]]],
) -> Iterator[Text]:
    for place, line in read_lines(db, transcript_id, entries):
        try:
            decoded = fmt.decode(line)
        except UnreadableLineError:
            continue
        for seq, kind, block in entries[place]:
            yield seq, entry_text(fmt, decoded, kind, block)


def _indexed_as(connection: Connection, transcript_id: int) -> int:
    found: int = connection.execute(
        select(_TRANSCRIPTS.c.indexed_as).where(_TRANSCRIPTS.c.id == transcript_id)
    ).scalar_one()
    return found


def is_indexed(connection: Connection, transcript_id: int) -> bool:
    """Whether the transcript's entries are in the index by today's rule: then new ones go there
    too, and else all of them at once, by `search_upkeep`.
    """
    return _indexed_as(connection, transcript_id) == VERSION


def remove(db: Session, transcript_id: int, fmt: Format) -> None:
    """Take a transcript's entries out, in the caller's transaction, before they are deleted."""
    connection = db.connection()
    if connection.dialect.name != "sqlite":
        connection.execute(
            text("DELETE FROM search_index WHERE transcript_id = :id"), {"id": transcript_id}
        )
        return
    known = _indexed_as(connection, transcript_id)
    if known not in (0, VERSION):
        # Put in by another rule: nobody knows any more by which words.
        start_anew(connection)
    if known != VERSION:
        return
    for texts in stored_texts(db, transcript_id, fmt):
        rows = [(row_id(transcript_id, seq), storable(said)) for seq, said in texts if said]
        if rows:
            connection.exec_driver_sql(
                "INSERT INTO search_index (search_index, rowid, words) VALUES ('delete', ?, ?)",
                rows,
            )


def start_anew(connection: Connection) -> None:
    """Empty the whole index."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("INSERT INTO search_index (search_index) VALUES ('delete-all')")
    else:
        connection.exec_driver_sql("DELETE FROM search_index")
    connection.execute(update(_TRANSCRIPTS).values(indexed_as=0))


def merge_step(connection: Connection, *, first: bool) -> bool:
    """A part of merging FTS5's segments into one, after which the words of what was deleted are
    gone from the file too. Says whether there is more to do.
    """
    if connection.dialect.name != "sqlite":
        return False
    driver: Any = connection.connection.driver_connection
    before = driver.total_changes
    connection.exec_driver_sql(
        "INSERT INTO search_index (search_index, rank) VALUES ('merge', ?)",
        (-_MERGE_PAGES if first else _MERGE_PAGES,),
    )
    return bool(driver.total_changes - before >= 2)
