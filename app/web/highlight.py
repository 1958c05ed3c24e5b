"""Fenced code with Pygments classes, kept by content: it is what costs in a transcript."""

import re
from functools import cache
from html import escape
from threading import Lock
from typing import Any, Final

from cachetools import LRUCache, cached
from pygments import highlight as pygments_highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name

# Lexers are regular expressions and code is third-party text: a small input bounds them all.
MAX_CHARACTERS: Final = 20_000
_CACHED_CHARACTERS: Final = 8_000_000
_LANGUAGES: Final = frozenset(
    """
    bash c c++ cpp cs csharp css diff dockerfile elixir go golang graphql hcl html http ini java
    javascript js json json5 jsonc jsx kotlin lua make makefile nginx php proto py python python3
    rb ruby rs rust scala scss sh shell sql svg swift tf toml ts tsx typescript udiff xml yaml yml
    zig zsh
    """.split()  # noqa: SIM905 - a list of words is easier to read
)
_LEXER_NAMES: Final = {
    "jsonc": "json",
    "proto": "protobuf",
    "svg": "xml",
    "shell": "bash",
    "tf": "hcl",
}
_LANGUAGE_END: Final = re.compile(r"[^A-Za-z0-9+#-]")
_FORMATTER: Final = HtmlFormatter(nowrap=True)


def highlight(source: str, language: str) -> str:
    """``source`` as escaped HTML, with ``<span class>`` where ``language`` is one we know."""
    name = _LANGUAGE_END.split(language.lower(), maxsplit=1)[0]
    if name not in _LANGUAGES or len(source) > MAX_CHARACTERS:
        return escape(source, quote=False)
    return _highlight(source, _LEXER_NAMES.get(name, name))


def forget() -> None:
    """Keep nothing of what was highlighted so far."""
    with _LOCK:
        _KEPT.clear()


def _size(html: str) -> int:
    return len(html)


_KEPT: Final[LRUCache[Any, str]] = LRUCache(_CACHED_CHARACTERS, getsizeof=_size)
_LOCK: Final = Lock()


@cache
def _lexer(name: str) -> type[Lexer]:
    # Pygments looks through all its lexers each time. One instance for all would not be safe.
    return type(get_lexer_by_name(name))


@cached(_KEPT, lock=_LOCK)
def _highlight(source: str, name: str) -> str:
    lexer = _lexer(name)(stripnl=False, ensurenl=False)
    return str(pygments_highlight(source, lexer, _FORMATTER))
