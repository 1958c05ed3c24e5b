"""Reading agents' folders as they are written: new transcripts, and new lines in known ones."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from sqlmodel import select
from starlette.concurrency import run_in_threadpool
from watchfiles import awatch

from app.db import tables
from app.db.engine import Database
from app.text import one_line
from app.transcripts.changes import Change, change, standing
from app.transcripts.files import SUFFIX, find, newest_first
from app.transcripts.ingest import BUSY, import_paths
from app.transcripts.left_out import LeftOut
from app.transcripts.redaction import Redactor

SOURCE: Final = "local"
DEBOUNCE_MS: Final = 50
STEP_MS: Final = 20
IDLE_MS: Final = 1000
# Where the system loses an event (a full queue, a network folder), this finds what it was about.
RESCAN_SECONDS: Final = 300.0
MISSING_SECONDS: Final = 5.0
_log = logging.getLogger(__name__)

OnChange = Callable[[Change], None]


class Watcher:
    """Keeps the database up to date with ``folders``, one file at a time: what is being written
    comes before what lay there already, and of that the newest first.

    ``on_change`` is called in the event loop after each file that brought something. ``run`` ends
    only when it is cancelled; a folder that is not there is waited for.
    """

    def __init__(
        self,
        database: Database,
        folders: Iterable[Path],
        on_change: OnChange,
        *,
        left_out: LeftOut | None = None,
        redact: Redactor | None = None,
        rescan_seconds: float = RESCAN_SECONDS,
    ) -> None:
        self._database = database
        self._folders = tuple(folders)
        self._on_change = on_change
        self._left_out = left_out or LeftOut()
        self._redact = redact
        self._rescan_seconds = rescan_seconds
        self._written: dict[Path, None] = {}  # an ordered set: just written
        self._waiting: dict[Path, None] = {}  # found lying there
        self._wake = asyncio.Event()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for folder in self._folders:
                group.create_task(self._watch(folder))
            group.create_task(self._rescan())
            group.create_task(self._read())

    @property
    def waiting(self) -> int:
        """How many files are still to be read."""
        return len(self._written) + len(self._waiting)

    async def _watch(self, folder: Path) -> None:
        said = False
        while True:
            root = await run_in_threadpool(_existing, folder)
            if root is not None:
                said = False
                await self._follow(root)
            elif not said:
                said = True
                _log.warning("%s is no folder yet: waiting for it", one_line(str(folder)))
            await asyncio.sleep(MISSING_SECONDS)

    async def _follow(self, root: Path) -> None:
        """Notes what is written under ``root`` until it is no folder any more."""
        looked = False
        try:
            async for changes in awatch(
                root,
                watch_filter=lambda _change, path: path.endswith(SUFFIX),
                debounce=DEBOUNCE_MS,
                step=STEP_MS,
                rust_timeout=IDLE_MS,
                yield_on_timeout=True,
                ignore_permission_denied=True,
            ):
                self._note(sorted(Path(path) for _, path in changes), self._written)
                if not looked:
                    # Only now: what was written between a look and the watch would be missed.
                    looked = True
                    self._note(await run_in_threadpool(self._unread, [root]), self._waiting)
                if not changes and await run_in_threadpool(_existing, root) is None:
                    return
        except OSError as error:
            _log.warning("%s cannot be watched: %s", one_line(str(root)), error.strerror)

    async def _rescan(self) -> None:
        while True:
            await asyncio.sleep(self._rescan_seconds)
            self._note(await run_in_threadpool(self._unread, self._folders), self._waiting)

    def _unread(self, folders: Iterable[Path]) -> list[Path]:
        """The files whose size is not what is stored of them."""
        there = [root for folder in folders if (root := _existing(folder)) is not None]
        with self._database.session() as db:
            rows = db.exec(
                select(tables.Transcript.path, tables.Transcript.bytes_read).where(
                    tables.Transcript.source == SOURCE
                )
            )
            read = dict(rows.all())
        return [
            path
            for path in newest_first(find(there).files)
            if _size(path) != read.get(str(path), -1)
        ]

    def _note(self, paths: Iterable[Path], queue: dict[Path, None]) -> None:
        for path in paths:
            queue.setdefault(path)
        self._wake.set()

    async def _read(self) -> None:
        while True:
            queue = self._written or self._waiting
            if not queue:
                self._wake.clear()
                await self._wake.wait()
                continue
            path = next(iter(queue))
            del queue[path]
            self._waiting.pop(path, None)
            try:
                found = await run_in_threadpool(self._file, path)
            except Exception:  # noqa: BLE001 - logged, and the next file may be sound
                # One file that Vitrine stumbles over must not keep the others from being read.
                _log.exception("%s could not be read", one_line(str(path)))
                continue
            if found is not None:
                self._on_change(found)

    def _file(self, path: Path) -> Change | None:
        try:
            if self._left_out.holds_back(path):
                return None
        except OSError:
            return None  # gone since it was noted, or not ours to read
        with self._database.session() as db:
            before = standing(db, SOURCE, str(path))
        summary = import_paths(self._database, [path], SOURCE, redact=self._redact)
        for skipped, why in summary.files_skipped:
            _log.debug("%s is not read: %s", skipped, why)
            if why == BUSY:
                self._waiting.setdefault(path)
        with self._database.session() as db:
            return change(db, before, standing(db, SOURCE, str(path)))


def _existing(folder: Path) -> Path | None:
    return folder.resolve() if folder.is_dir() else None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
