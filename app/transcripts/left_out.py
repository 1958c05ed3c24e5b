"""Projects that are not read: patterns on a transcript's own path and on its session's folder."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from app.transcripts import formats
from app.transcripts.files import DETECT_BYTES, TranscriptFile


class LeftOut:
    """``patterns`` as of a shell (``*`` matches slashes too): ``/home/me/clients/*``. A pattern
    also leaves out everything below a folder that it matches. Without patterns nothing is.
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self._patterns = tuple(
            pattern.strip().rstrip("/") for pattern in patterns if pattern.strip()
        )

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def matches(self, place: str) -> bool:
        """Whether a path or folder is left out."""
        return any(
            fnmatchcase(place, pattern) or fnmatchcase(place, f"{pattern}/*")
            for pattern in self._patterns
        )

    def holds_back(self, path: Path) -> bool:
        """Whether the file at ``path`` must not be read now: it is left out, or its beginning does
        not say yet which folder its session is in. Raises ``OSError``.
        """
        if not self._patterns:
            return False
        if self.matches(str(path)):
            return True
        folder = recorded_folder(path)
        return folder is None or self.matches(folder.rstrip("/"))


def recorded_folder(path: Path) -> str | None:
    """The folder that the beginning of a transcript names, ``None`` where it names none. Raises
    ``OSError``.
    """
    with TranscriptFile(path) as file:
        head = file.read(0, min(file.size, DETECT_BYTES)) if file.is_regular else b""
    fmt = formats.detect(path, head)
    if fmt is None:
        return None
    for line in head.split(b"\n")[:-1]:
        if folder := fmt.index(line).folder:
            return folder
    return None
