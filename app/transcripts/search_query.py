"""The search language: words, "phrases", prefix*, -not. One reading of it for both databases.

Whatever a person types is a query: there are no errors in this language.
"""

import re
from dataclasses import dataclass
from typing import Final, Self

from app.transcripts.search_index import normal

MAX_LENGTH: Final = 400  # characters of a query that are read
_MAX_TERMS: Final = 20
# A minus belongs to what follows it; a quote that is never closed reaches to the end.
_PIECE: Final = re.compile(r'(?P<minus>-?)(?:"(?P<quoted>[^"]*)"?|(?P<bare>[^\s"]+))')
_WORD: Final = re.compile(r"[^\W_]+")
_BETWEEN: Final = r"[\W_]{1,40}?"
# One letter and a star would walk through most of the index.
_MIN_PREFIX: Final = 2
_MAX_WORD_BYTES: Final = 1_000


@dataclass(frozen=True, slots=True)
class Term:
    """Words that stand one after the other; ``prefix``: the last one may go on."""

    words: tuple[str, ...]
    prefix: bool = False

    @property
    def pattern(self) -> str:
        """A regular expression for it in a text."""
        joined = _BETWEEN.join(re.escape(word) for word in self.words)
        end = r"[^\W_]*" if self.prefix else r"(?![^\W_])"
        return rf"(?<![^\W_]){joined}{end}"


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """All of ``wanted``, none of ``unwanted``. Without ``wanted`` it finds nothing."""

    wanted: tuple[Term, ...]
    unwanted: tuple[Term, ...]

    @classmethod
    def of(cls, text: str) -> Self:
        wanted: list[Term] = []
        unwanted: list[Term] = []
        for piece in _PIECE.finditer(text[:MAX_LENGTH]):
            bare = piece["bare"] or ""
            words = tuple(_WORD.findall(piece["quoted"] or bare))
            if not words:
                continue
            prefix = bare.endswith("*") and len(words[-1]) >= _MIN_PREFIX
            (unwanted if piece["minus"] else wanted).append(Term(words, prefix))
        return cls(tuple(wanted[:_MAX_TERMS]), tuple(unwanted[:_MAX_TERMS]))

    def __bool__(self) -> bool:
        return bool(self.wanted)

    @property
    def fts5(self) -> str:
        """For SQLite's ``MATCH``. Words hold letters and digits only: nothing can leave its
        quotes.
        """
        wanted = " AND ".join(map(_fts5, self.wanted))
        if not self.unwanted:
            return wanted
        return f"({wanted}) NOT ({' OR '.join(map(_fts5, self.unwanted))})"

    @property
    def tsquery(self) -> str:
        """For PostgreSQL's ``to_tsquery('simple', …)``."""
        wanted = [_tsquery(term) for term in self.wanted]
        return " & ".join([*wanted, *(f"!{_tsquery(term)}" for term in self.unwanted)])

    @property
    def pattern(self) -> re.Pattern[str]:
        """What of a text to mark: the longest term first, since the first that fits is taken."""
        terms = sorted(self.wanted, key=lambda term: -len(" ".join(term.words)))
        return re.compile("|".join(term.pattern for term in terms), re.IGNORECASE)


def _fts5(term: Term) -> str:
    return f'"{" ".join(term.words)}"{" *" if term.prefix else ""}'


def _tsquery(term: Term) -> str:
    quoted = [f"'{_cut(normal(word)) or 'x'}'" for word in term.words]
    if term.prefix:
        quoted[-1] += ":*"
    return f"({' <-> '.join(quoted)})"


def _cut(word: str) -> str:
    # A longer word is an error there, and none in the index is longer.
    return word.encode()[:_MAX_WORD_BYTES].decode("utf-8", "ignore").strip()
