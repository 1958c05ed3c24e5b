"""What is asked of every server, so that the answers can be compared."""

from collections.abc import Sequence
from typing import Final

ROWS: Final = 100
PLACES: Final = ("start", "middle", "end")
TIMES: Final = 9

# Words that Vitrine and its peers both understand, then what only Vitrine finds.
WORDS: Final = ("sandbox frame", '"origin policy header"', "nothere")
OPERATORS: Final = ('"render chart" token', "rend*")

# A hundred rows of Vitrine are at most that many entries: results stand in their calls' rows.
_APART: Final = 250


def windows(entries: int) -> int:
    """How many windows of `ROWS` lie side by side in each third of a transcript: only what nobody
    has asked for yet is cold, because rendered text is kept.
    """
    return max(1, min(TIMES, entries // len(PLACES) // _APART))


def starts(entries: int) -> int:
    """How often the server has to be started anew to ask for enough of them."""
    return 1 if windows(entries) > 1 else TIMES // 2 + 1


def positions(place: str, length: int, number: int) -> Sequence[int]:
    """Where ``number`` windows begin in a transcript of ``length`` (at the end: where they end)."""
    apart = min(_APART, length // (len(PLACES) * number))
    if place == "start":
        return [n * apart for n in range(number)]
    if place == "end":
        return [length - n * apart for n in range(number)]
    first = (length - (number - 1) * apart) // 2
    return [first + n * apart for n in range(number)]
