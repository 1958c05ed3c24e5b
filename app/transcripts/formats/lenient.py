"""Reading JSON that agents really write: lone surrogates, NaN, invalid UTF-8, a byte order mark.

What comes out can always be written as UTF-8 JSON again: lone surrogates become U+FFFD, NaN and
infinities become null (as JavaScript's own ``JSON.stringify`` has it).
"""

import json
import math
import re
from datetime import UTC, datetime
from typing import Any

import msgspec

from app.text import storable
from app.transcripts.formats.base import NoObjectError, TooDeepError, UnreadableLineError

# Deeper values are refused: whoever writes them out again would run out of stack.
MAX_DEPTH = 256
_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_DIGITS = 4000  # Python refuses to convert longer integers


def _int(digits: str) -> int | None:
    return int(digits) if len(digits) <= _MAX_DIGITS else None


def _clean(value: Any, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        raise TooDeepError("nested too deeply")
    if isinstance(value, str):
        # NUL is legal JSON and stays; only the database cannot take it.
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {_clean(key): _clean(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item, depth + 1) for item in value]
    return value


def loads(line: bytes) -> Any:
    """The JSON value in ``line``. The last of duplicate keys wins. Raises `UnreadableLineError`."""
    try:
        return msgspec.json.decode(line)
    except (ValueError, RecursionError):
        pass  # the slow reader below takes what this one refuses
    try:
        text = line.decode("utf-8", "replace").removeprefix("\ufeff")
        return _clean(json.loads(text, parse_constant=lambda _: None, parse_int=_int))
    except TooDeepError:
        raise
    except RecursionError as error:
        raise TooDeepError("nested too deeply") from error
    except ValueError as error:
        raise UnreadableLineError(str(error)[:200]) from error


def load_line(line: bytes) -> dict[str, Any]:
    """The JSON object that a transcript's line is. Raises ``UnreadableLineError``."""
    value = loads(line)
    if not isinstance(value, dict):
        raise NoObjectError("not a JSON object")
    return value


def load_object(text: str) -> dict[str, Any] | None:
    """The JSON object that ``text`` is, or ``None``."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = loads(text.encode("utf-8", "replace"))
    except UnreadableLineError:
        return None
    return value if isinstance(value, dict) and not too_deep(value) else None


def too_deep(value: object) -> bool:
    """Whether ``value`` is nested deeper than `MAX_DEPTH`."""
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        deeper: list[object] = []
        for item in level:
            if isinstance(item, dict):
                deeper.extend(item.values())
            elif isinstance(item, list):
                deeper.extend(item)
        if not deeper:
            return False
        level = deeper
    return True


def compact(value: object) -> str:
    """``value`` as JSON on one line, as ``JSON.stringify`` writes it."""
    try:
        return msgspec.json.encode(value).decode()
    except (ValueError, OverflowError):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def pretty(value: object) -> str:
    """``value`` as indented JSON, for a person."""
    if too_deep(value):
        return "(nested too deeply to show)"
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    except (ValueError, OverflowError):
        return storable(json.dumps(value, indent=2, ensure_ascii=False))


def is_time(value: object) -> bool:
    """Whether a line's value can be decoded as a time."""
    try:
        msgspec.convert(value, datetime)
    except ValueError:
        return False
    return True


def utc(at: datetime | None) -> datetime | None:
    """``at`` in UTC, or ``None`` for a time that no session can have."""
    if at is None or not 1970 < at.year < 9999:
        return None
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
