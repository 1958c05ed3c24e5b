"""Third-party text made safe to look at.

Escaping for HTML is Jinja's work. What it leaves alone is what deceives the eye or the terminal:
control and format characters, bidirectional overrides, zero-width and TAG-block characters.
"""

import re
import unicodedata

_KEPT = {"\n", "\t"}
_HIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
# Joiners are part of ordinary words in several scripts and of emoji; alone they are harmless.
_JOINERS = {"\u200c", "\u200d"}
_SURROGATE = re.compile("[\ud800-\udfff]")
# Everything but what is certainly plain: most text holds little of it, and a regular expression
# skips the rest faster than a loop can.
_UNUSUAL = re.compile(r"[^\n\t -~]")
_KEPT_IN_TEXT = _KEPT | _JOINERS


def _visible_char(char: str, kept: set[str]) -> str:
    if char in kept or unicodedata.category(char) not in _HIDDEN_CATEGORIES:
        return char
    return f"⟨U+{ord(char):04X}⟩"


def visible(text: str) -> str:
    """``text`` with every hidden character but newline and tab spelt out as ``⟨U+202E⟩``."""
    if text.isascii() and text.isprintable():
        return text
    return _UNUSUAL.sub(lambda match: _visible_char(match[0], _KEPT_IN_TEXT), text)


def one_line(text: str, limit: int = 200) -> str:
    """``text`` for a name, a log line or a terminal: no line break, nothing hidden, cut to
    ``limit`` characters with an ellipsis.
    """
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    if cut.isascii() and cut.isprintable():
        return cut
    return "".join(_visible_char(char, set()) for char in cut)


def storable(text: str) -> str:
    """``text`` as both databases take it: NUL and lone surrogates become U+FFFD.

    PostgreSQL refuses the first and every UTF-8 encoder the second; agents write both.
    """
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    # Asked first: it costs nothing, and an import asks for every text.
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
