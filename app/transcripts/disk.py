"""Small files beside transcripts: an agent's configuration, and what it wrote apart.

Their places come from paths and from what a transcript says, so nothing here follows a link at
its end, opens anything but regular files, or reads more than its limit; nothing raises.
"""

import os
import stat
from pathlib import PurePath

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read(path: PurePath, limit: int) -> bytes | None:
    """The whole file; ``None`` where there is none that may be read, or it is longer."""
    data = read_head(path, limit + 1)
    return data if data is not None and len(data) <= limit else None


def read_head(path: PurePath, size: int) -> bytes | None:
    """The first ``size`` bytes of a file."""
    try:
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        parts: list[bytes] = []
        while size > 0 and (part := os.read(descriptor, size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def names(folder: PurePath, limit: int) -> list[str]:
    """The names in a folder, the last ``limit`` of them in order (agents name files by time)."""
    try:
        found = sorted(os.listdir(folder))
    except (OSError, ValueError):
        return []
    return found[-limit:]
