"""The host's own script before a view's document.

It gives the document a port to the broker in the shape of ``window.parent``, stand-ins for the
storage that an opaque origin lacks, and takes WebRTC away. The script is ``prelude.js`` beside
this module; what it says to the broker is described in ``static/js/broker/port.js``.
"""

import re
from pathlib import Path

_NONCE = re.compile(r"[A-Za-z0-9_-]{16,128}")
_OPENING = '(() => {\n  "use strict";\n'


def _compact(source: str) -> str:
    """The script without whole-line comments, blank lines and indentation: it is sent with every
    view. Raises ``ValueError`` when it could not stand in an HTML script element.
    """
    lines = (line.strip() for line in source.splitlines())
    script = "\n".join(line for line in lines if line and not line.startswith("//"))
    if re.search(r"</script|<!--", script, re.IGNORECASE):
        raise ValueError("the prelude must not hold text that ends or hides its script element")
    return script


def _split(source: str) -> tuple[str, str]:
    """What comes before and after the place where the nonce is declared."""
    if not source.startswith(_OPENING):
        raise ValueError(f"the prelude must begin with {_OPENING!r}")
    opening, rest = _compact(_OPENING), _compact(source.removeprefix(_OPENING))
    return f"<!doctype html><script>{opening}\n", f"\n{rest}</script>"


_BEFORE, _AFTER = _split(Path(__file__).with_suffix(".js").read_text(encoding="utf-8"))


def document(html: str, nonce: str) -> bytes:
    """The view's document as it is served: a doctype, the prelude, then ``html`` untouched.

    ``html`` may hold its own doctype and head; a parser that has seen ours ignores the first and
    merges the second. A byte order mark is dropped, for behind the script it would count as text
    and open the body. Lone surrogates become ``?``. The bytes are UTF-8, to be served as
    ``text/html; charset=utf-8``.

    ``nonce`` is the one in the panel's ``data-nonce``, made for this load: 16 to 128 characters
    of the URL-safe base64 alphabet. Raises ``ValueError`` on any other.
    """
    if not _NONCE.fullmatch(nonce):
        raise ValueError("a nonce is 16 to 128 characters of A-Z a-z 0-9 - _")
    body = html.removeprefix("\ufeff")
    return f'{_BEFORE}const NONCE = "{nonce}";{_AFTER}{body}'.encode("utf-8", "replace")
