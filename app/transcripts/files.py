"""Transcript files on disk: finding them, and reading them in batches of whole lines."""

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from app.text import one_line
from app.transcripts.chunks import MAX_LINE_BYTES, PIECE_BYTES
from app.transcripts.redaction import CONTEXT, Redactor

SUFFIX = ".jsonl"
DETECT_BYTES = 256 * 1024
_BLOCK_BYTES = 2 * 1024 * 1024
# A batch is one transaction and is held in memory, so a file of tiny lines is cut too.
_BATCH_LINES = 10_000


@dataclass(slots=True)
class Found:
    files: list[Path] = field(default_factory=list)  # resolved, each once
    skipped: list[tuple[str, str]] = field(default_factory=list)  # (path, sentence why)

    def skip(self, path: Path, why: str) -> None:
        self.skipped.append((one_line(str(path), 1000), why))


def _walk(root: Path, found: Found, seen: set[Path]) -> None:
    def unreadable(error: OSError) -> None:
        found.skip(Path(error.filename), f"The folder cannot be read: {error.strerror}.")

    # os.walk does not follow linked folders; what is inside the root is walked anyway.
    for folder, folders, names in os.walk(root, onerror=unreadable):
        folders.sort()
        for name in sorted(names):
            path = Path(folder, name)
            if not name.endswith(SUFFIX):
                continue
            if path.is_symlink():
                target = path.resolve()
                if not target.is_relative_to(root):
                    found.skip(path, "It is a link that leaves the folder.")
                    continue
                if not target.name.endswith(SUFFIX):
                    found.skip(path, "It is a link to something that is no .jsonl file.")
                    continue
                path = target
            _add(path, found, seen)


def _add(path: Path, found: Found, seen: set[Path]) -> None:
    if path in seen:
        return
    seen.add(path)
    try:
        str(path).encode()
    except UnicodeEncodeError:
        found.skip(path, "Its name is not valid UTF-8.")
        return
    found.files.append(path)


def find(paths: Iterable[Path]) -> Found:
    """Every ``*.jsonl`` file under the folders in ``paths``, and the files named there."""
    found = Found()
    seen: set[Path] = set()
    for path in paths:
        try:
            root = path.resolve(strict=True)
        except (OSError, RuntimeError):
            found.skip(path, "There is no such file or folder.")
            continue
        if root.is_dir():
            _walk(root, found, seen)
        else:
            _add(root, found, seen)
    return found


def newest_first(files: Sequence[Path]) -> list[Path]:
    """``files`` so that what was written last comes first. A folder named like a file beside it
    (a session's sub-agents) comes with that file, and behind it.
    """
    groups: dict[str, list[Path]] = {}
    own = {str(path.with_suffix("")) for path in files}
    for path in files:
        group = next((str(up) for up in path.parents if str(up) in own), None)
        groups.setdefault(group or str(path.with_suffix("")), []).append(path)
    newest = {group: max(map(_written, paths)) for group, paths in groups.items()}
    ordered = sorted(groups, key=lambda group: (-newest[group], group))
    return [path for group in ordered for path in sorted(groups[group], key=_main_first)]


def _main_first(path: Path) -> tuple[int, str]:
    return len(path.parts), str(path)


def _written(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0  # it is skipped, with its reason, when its turn comes


class TranscriptFile:
    """An open transcript file. ``redact`` hides secrets in what is to be stored: in ``batches``,
    ``pieces`` and ``stored``. Raises ``OSError`` where it cannot be opened or read.
    """

    def __init__(self, path: Path, redact: Redactor | None = None) -> None:
        self._redact = redact or Redactor()
        # Neither a link put here meanwhile nor a pipe that nobody writes to.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        self._fd = os.open(path, flags)
        self.status = os.fstat(self._fd)

    def __enter__(self) -> "TranscriptFile":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    @property
    def is_regular(self) -> bool:
        return stat.S_ISREG(self.status.st_mode)

    @property
    def size(self) -> int:
        """When it was opened; what is written later is for the next time."""
        return self.status.st_size

    @property
    def modified(self) -> datetime:
        return datetime.fromtimestamp(max(self.status.st_mtime, 0), UTC)

    def read(self, start: int, size: int) -> bytes:
        parts: list[bytes] = []
        while size > 0:
            part = os.pread(self._fd, min(size, PIECE_BYTES), start)
            if not part:
                break
            parts.append(part)
            start += len(part)
            size -= len(part)
        return b"".join(parts)

    def stored(self, start: int, size: int) -> bytes:
        """What is stored, or would be, of the ``size`` bytes at ``start``."""
        data = self.read(start, size)
        if self._redact.is_off:
            return data
        if data.endswith(b"\n") and (start == 0 or self.read(start - 1, 1) == b"\n"):
            return self._redact(data)
        # A piece of a line too large to hold: a secret may lie across its ends.
        before = min(start, CONTEXT)
        around = self._redact(self.read(start - before, before + size + CONTEXT))
        return around[before : before + len(data)]

    def has_line(self) -> bool:
        """Whether there is one whole line."""
        return self._newline(0) >= 0

    def _newline(self, start: int) -> int:
        """The place of the first newline from ``start`` on, or -1."""
        while start < self.size:
            block = self.read(start, min(_BLOCK_BYTES, self.size - start))
            if not block:
                return -1
            found = block.find(b"\n")
            if found >= 0:
                return start + found
            start += len(block)
        return -1

    def pieces(self, start: int, size: int) -> Iterator[bytes]:
        for at in range(start, start + size, PIECE_BYTES):
            wanted = min(PIECE_BYTES, start + size - at)
            piece = self.stored(at, wanted)
            if len(piece) != wanted:
                raise OSError(errno.EIO, "it changed while it was read")
            yield piece

    def batches(self, start: int) -> Iterator["Batch"]:
        """Whole lines from ``start`` to the last newline; a torn last line is left out."""
        carry = bytearray()
        while start + len(carry) < self.size:
            at = start + len(carry)
            block = self.read(at, min(_BLOCK_BYTES, self.size - at))
            if not block:
                return
            carry += block
            end = carry.rfind(b"\n") + 1
            if end:
                yield from _cut(start, self._redact(bytes(carry[:end])))
                start += end
                del carry[:end]
            elif len(carry) > MAX_LINE_BYTES:
                newline = self._newline(start + len(carry))
                if newline < 0:
                    return
                carry.clear()
                yield Batch(start, newline + 1 - start, None)
                start = newline + 1


@dataclass(frozen=True, slots=True)
class Batch:
    """Whole lines; ``data`` is ``None`` for a single line that is too large to hold."""

    start: int
    size: int
    data: bytes | None


def _cut(start: int, data: bytes) -> Iterator[Batch]:
    at = 0
    while at < len(data):
        end = at
        for _ in range(_BATCH_LINES):
            end = data.index(b"\n", end) + 1
            if end == len(data):
                break
        yield Batch(start + at, end - at, data[at:end])
        at = end
