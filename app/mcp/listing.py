"""A paged listing, read to its end and not beyond."""

import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple

from app.mcp.errors import ServerGarbage, ServerTooLarge
from app.mcp.hints import fresh_seconds
from app.mcp.raw import Answer

MAX_PAGES: Final = 100
MAX_LISTED: Final = 5_000
MAX_CURSOR: Final = 65_536


class Listing(NamedTuple):
    """Every entry, raw, and for how long the server lets them be kept."""

    entries: list[Any]
    fresh_seconds: float = math.inf


async def read(
    ask: Callable[[Mapping[str, Any]], Awaitable[Answer]], field: str, *, max_bytes: int
) -> Listing:
    """What the pages hold under ``field``; ``ask`` gets the parameters of each request.

    Raises what ``ask`` raises, ``ServerGarbage`` and ``ServerTooLarge``.
    """
    entries: list[Any] = []
    size = 0
    seconds = math.inf
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(MAX_PAGES):
        answer = await ask({"cursor": cursor} if cursor else {})
        page = answer.result.get(field)
        if not isinstance(page, list):
            raise ServerGarbage(f"The server's answer holds no list of {field}.")
        entries += page
        size += answer.size
        seconds = min(seconds, fresh_seconds(answer.result))
        if len(entries) > MAX_LISTED:
            raise ServerGarbage(f"The server lists more than {MAX_LISTED} {field}.")
        if size > max_bytes:
            raise ServerTooLarge(max_bytes)
        cursor = _next_cursor(answer.result, seen)
        if cursor is None:
            return Listing(entries, seconds)
    raise ServerGarbage(f"The server lists its {field} in more than {MAX_PAGES} pages.")


def _next_cursor(result: Mapping[str, Any], seen: set[str]) -> str | None:
    cursor = result.get("nextCursor")
    if cursor is None or cursor == "":
        return None
    if not isinstance(cursor, str) or len(cursor) > MAX_CURSOR or cursor in seen:
        raise ServerGarbage("The server's list never comes to its end.")
    seen.add(cursor)
    return cursor
