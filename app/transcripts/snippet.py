"""A line of an entry around what a search found in it."""

import re
from dataclasses import dataclass
from typing import Final

_BEFORE: Final = 60
_LENGTH: Final = 240
# Looked through for the first match; further on, the beginning is shown.
_LOOKED_AT: Final = 200_000
_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Piece:
    """Raw third-party text; ``marked`` where it matches."""

    text: str
    marked: bool


Snippet = tuple[Piece, ...]


def snippet(text: str, pattern: re.Pattern[str]) -> Snippet:
    """About `_LENGTH` characters of ``text``, on one line, its matches marked."""
    first = pattern.search(text, 0, _LOOKED_AT)
    start = max(0, first.start() - _BEFORE) if first else 0
    if start:
        # From the beginning of a word, where there is one near.
        space = _SPACE.search(text, start, first.start() if first else start)
        start = space.end() if space else start
    end = min(len(text), start + _LENGTH)
    pieces: list[Piece] = [Piece("…", marked=False)] if start else []
    at = start
    for found in pattern.finditer(text, start, end):
        if found.start() > at:
            pieces.append(_piece(text[at : found.start()]))
        pieces.append(_piece(found[0], marked=True))
        at = found.end()
    if at < end:
        pieces.append(_piece(text[at:end]))
    if end < len(text):
        pieces.append(Piece("…", marked=False))
    return tuple(pieces)


def _piece(text: str, *, marked: bool = False) -> Piece:
    return Piece(_SPACE.sub(" ", text), marked)
