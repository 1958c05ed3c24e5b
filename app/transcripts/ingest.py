"""Importing transcript files. Importing again adds only what is new."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col, func, select

from app.db import tables
from app.db.engine import Database
from app.text import one_line, storable
from app.transcripts import beside, formats, removal
from app.transcripts.files import DETECT_BYTES, Batch, TranscriptFile, find, newest_first
from app.transcripts.formats.base import Format, Place
from app.transcripts.redaction import Redactor
from app.transcripts.store import (
    HEAD_BYTES,
    NEVER,
    Appender,
    StaleTranscriptError,
    head_hash,
)

Progress = Callable[[int, int], None]

NOT_A_TRANSCRIPT = "It is not a transcript that Vitrine can read."
NO_LINE_YET = "It holds no complete line yet."
NOT_A_FILE = "It is not a regular file."
BUSY = "Another import is reading it."
DELETED = "It was deleted here. Import it with --again to read it anew."

_ATTEMPTS = 3


@dataclass(slots=True)
class ImportSummary:
    """What an import did. A session counts once, as new or as grown."""

    sessions_new: int = 0
    sessions_grown: int = 0
    entries_new: int = 0
    files_unchanged: int = 0
    files_replaced: int = 0  # shorter or different since the last time: read again from the start
    files_skipped: list[tuple[str, str]] = field(default_factory=list)  # (path, sentence why)

    @property
    def read_anything(self) -> bool:
        """Whether at least one file was a transcript, new or not."""
        return bool(self.sessions_new or self.sessions_grown or self.files_unchanged)


class _DeletedError(Exception):
    """A person deleted this transcript, and nobody asked for it again."""


class _Import:
    def __init__(
        self,
        database: Database,
        source: str,
        progress: Progress | None,
        *,
        again: bool,
        redact: Redactor | None,
    ) -> None:
        self._database = database
        self._source = source
        self._progress = progress
        self._again = again
        self._redact = redact or Redactor()
        self._done = self._total = 0
        self._new: set[str] = set()
        self._grown: set[str] = set()
        self.summary = ImportSummary()

    def run(self, paths: Iterable[Path]) -> ImportSummary:
        found = find(paths)
        self.summary.files_skipped.extend(found.skipped)
        sizes = {path: _size(path) for path in found.files}
        self._total = sum(sizes.values())
        self._report(0)
        for path in newest_first(found.files):
            before = self._done
            self._file(path)
            self._report(before + sizes[path] - self._done)
        self.summary.sessions_new = len(self._new)
        self.summary.sessions_grown = len(self._grown - self._new)
        return self.summary

    def _report(self, step: int) -> None:
        self._done = min(self._done + max(step, 0), self._total)
        if self._progress is not None:
            self._progress(self._done, self._total)

    def _skip(self, path: Path, why: str) -> None:
        self.summary.files_skipped.append((one_line(str(path), 1000), why))

    def _file(self, path: Path) -> None:
        try:
            with TranscriptFile(path, self._redact) as file:
                self._open(path, file)
        except OSError as error:
            self._skip(path, f"It cannot be read: {error.strerror}.")

    def _open(self, path: Path, file: TranscriptFile) -> None:
        if not file.is_regular:
            return self._skip(path, NOT_A_FILE)
        head = file.read(0, min(file.size, DETECT_BYTES))
        if not head.strip() or (b"\n" not in head and not file.has_line()):
            return self._skip(path, NO_LINE_YET)
        fmt = formats.detect(path, head)
        if fmt is None:
            return self._skip(path, NOT_A_TRANSCRIPT)
        for _ in range(_ATTEMPTS):
            try:
                return self._read(path, file, fmt, head)
            except _DeletedError:
                return self._skip(path, DELETED)
            except (StaleTranscriptError, IntegrityError):
                continue  # another process was faster: go on from where it came to
        return self._skip(path, BUSY)

    def _transcript(
        self, db: Session, path: Path, fmt: Format, head: bytes, made: set[str]
    ) -> tables.Transcript:
        """The stored transcript of a file, made where it is new; a new session's id goes into
        ``made``.
        """
        stored = self._stored(db, str(path))
        if stored is not None:
            return stored
        place = fmt.place(path, head)
        self._check_not_deleted(db, str(path), _main_path(fmt, place))
        moved = self._moved(db, path, fmt, place)
        if moved is not None:
            return moved
        main = self._main(db, fmt, place)
        if main is None:
            row = tables.Session(
                source=self._source,
                agent=fmt.agent,
                external_id=_external_id(place),
                updated_at=NEVER,
            )
            db.add(row)
            db.flush()
            # A sub-agent's file may come first: its session waits for the main transcript.
            main = tables.Transcript(
                session_id=row.id, number=0, source=self._source, path=_main_path(fmt, place)
            )
            db.add(main)
            db.flush()
            made.add(row.id)
        if not place.agent_id or main.path == str(path):
            return main
        last = db.exec(
            select(func.max(col(tables.Transcript.number))).where(
                tables.Transcript.session_id == main.session_id
            )
        ).one()
        sub = tables.Transcript(
            session_id=main.session_id,
            number=last + 1,
            agent_id=place.agent_id,
            source=self._source,
            path=str(path),
        )
        db.add(sub)
        db.flush()
        return sub

    def _check_not_deleted(self, db: Session, *paths: str) -> None:
        if self._again:
            removal.forget_deletion(db.connection(), self._source, *paths)
        elif removal.was_deleted(db.connection(), self._source, *paths):
            raise _DeletedError

    def _main(self, db: Session, fmt: Format, place: Place) -> tables.Transcript | None:
        """The stored main transcript of a file's session. One that waited for its file under
        the session's id has the file's path from now on.
        """
        if place.main_path is None:
            return self._by_external_id(db, fmt, place)
        main = self._stored(db, str(place.main_path))
        if main is None:
            main = self._stored(db, _waiting_path(fmt, place))
            if main is not None:
                main.path = str(place.main_path)
                db.flush()
        return main

    def _by_external_id(self, db: Session, fmt: Format, place: Place) -> tables.Transcript | None:
        return db.exec(
            select(tables.Transcript)
            .join(tables.Session, col(tables.Session.id) == col(tables.Transcript.session_id))
            .where(
                tables.Session.external_id == _external_id(place),
                tables.Session.source == self._source,
                tables.Session.agent == fmt.agent,
                tables.Transcript.number == 0,
            )
            .order_by(col(tables.Transcript.id))
        ).first()

    def _moved(
        self, db: Session, path: Path, fmt: Format, place: Place
    ) -> tables.Transcript | None:
        """The stored transcript of a file that its agent put elsewhere (Codex archives threads):
        of the same session, by the same name, and no longer where it was. It has the new path
        from now on.
        """
        rows = db.exec(
            select(tables.Transcript)
            .join(tables.Session, col(tables.Session.id) == col(tables.Transcript.session_id))
            .where(
                tables.Session.external_id == _external_id(place),
                tables.Session.source == self._source,
                tables.Session.agent == fmt.agent,
                tables.Transcript.agent_id == place.agent_id,
            )
        )
        for row in rows:
            old = Path(row.path)
            if old.name == path.name and not old.exists():
                row.path = str(path)
                db.flush()
                return row
        return None

    def _stored(self, db: Session, path: str) -> tables.Transcript | None:
        return db.exec(
            select(tables.Transcript).where(
                tables.Transcript.source == self._source, tables.Transcript.path == path
            )
        ).first()

    def _read(self, path: Path, file: TranscriptFile, fmt: Format, head: bytes) -> None:
        made: set[str] = set()
        with self._database.session() as db:
            transcript = self._transcript(db, path, fmt, head, made)
            appender = Appender(db, transcript, fmt)
            known_hash = transcript.head_hash
        self._new |= made
        before = appender.entry_count
        if _replaced(file, appender, head, known_hash):
            self.summary.files_replaced += 1
            self._reread(file, appender, head)
        elif file.size == appender.bytes_read:
            self.summary.files_unchanged += 1
            return
        else:
            start = appender.bytes_read
            for batch in file.batches(start):
                with self._database.session() as db:
                    _append(db, file, appender, batch, head)
                self._report(batch.size)
            if appender.bytes_read == start:
                self.summary.files_unchanged += 1
                return
        self._grown.add(appender.session_id)
        self.summary.entries_new += max(0, appender.entry_count - before)
        self._date(appender.session_id, file)
        with self._database.session() as db:
            beside.keep(db, appender.session_id, path, fmt, fmt.place(path, head), self._redact)

    def _reread(self, file: TranscriptFile, appender: Appender, head: bytes) -> None:
        # One transaction: a page shows the old transcript or the new one, never a half.
        with self._database.session() as db:
            appender.reset(db)
            for batch in file.batches(0):
                _append(db, file, appender, batch, head)
                self._report(batch.size)

    def _date(self, session_id: str, file: TranscriptFile) -> None:
        """A transcript without a single time is as old as its file."""
        with self._database.session() as db:
            row = db.get_one(tables.Session, session_id)
            if row.updated_at == NEVER:
                row.updated_at = min(tables.now(), file.modified)


def _external_id(place: Place) -> str:
    return storable(place.external_id[:128])


def _waiting_path(fmt: Format, place: Place) -> str:
    return removal.waiting_path(fmt.agent, _external_id(place))


def _main_path(fmt: Format, place: Place) -> str:
    return str(place.main_path) if place.main_path else _waiting_path(fmt, place)


def _append(
    db: Session, file: TranscriptFile, appender: Appender, batch: Batch, head: bytes
) -> None:
    if batch.data is None:
        appender.append_too_large(db, file.pieces(batch.start, batch.size), batch.size, head)
    else:
        appender.append(db, batch.data, head)


def _replaced(file: TranscriptFile, appender: Appender, head: bytes, known_hash: str) -> bool:
    """Whether the file is no longer the one that was read: shorter, or different at its head or
    where we stopped.
    """
    read = appender.bytes_read
    if read == 0:
        return False
    if file.size < read or head_hash(head[: min(read, HEAD_BYTES)]) != known_hash:
        return True
    if file.size == read:
        return False
    first_byte, tail = appender.tail
    return file.stored(first_byte, len(tail)) != tail


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # it is skipped, with its reason, when its turn comes


def import_paths(
    database: Database,
    paths: Iterable[Path],
    source: str = "local",
    progress: Progress | None = None,
    *,
    again: bool = False,
    redact: Redactor | None = None,
) -> ImportSummary:
    """Read transcript files, and every ``*.jsonl`` under folders, into the database: what was
    written last comes first. ``again``: those too that were deleted here. ``redact`` hides
    secrets before anything is stored.

    ``source`` names the machine that the paths are on. ``progress`` is called with the bytes
    done and the bytes in all. A killed import goes on where it stopped; a torn last line waits
    for the next time; what is no transcript is skipped with a sentence, never an error.
    """
    return _Import(database, source, progress, again=again, redact=redact).run(paths)
