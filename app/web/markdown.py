"""Markdown of transcripts as HTML: parsed by pyromark, written here, sanitized by nh3.

Third-party text. Raw HTML is shown as text, links lead to http, https and mailto only, and no
image is ever loaded: a transcript must not tell its author who reads it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from html import escape
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit

import nh3
import pyromark
from cachetools import LRUCache, cached
from markupsafe import Markup
from pygments.token import STANDARD_TYPES

from app.text import visible
from app.web.highlight import highlight

# Above this, text is shown as it is: nobody reads 200,000 characters for their headings, and a
# bound on the input is the one bound that holds for every parser.
MAX_CHARACTERS: Final = 200_000
# Deeper nesting is written as one level: browsers and sanitizers are slow or recursive there.
_MAX_DEPTH: Final = 24
_CACHED_CHARACTERS: Final = 8_000_000

_OPTIONS: Final = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
)
_ADDRESS: Final = re.compile(r"(?:https?://[^\s/\\?#]|mailto:[^\s/\\])[^\s<>\"\\]*", re.IGNORECASE)
_BARE_ADDRESS: Final = re.compile(r"\bhttps?://[^\s<>\"'`\\]{1,2000}")

_TAGS: Final = frozenset(
    """
    a blockquote br code del div em h3 h4 h5 h6 hr li ol p pre span strong table tbody td th thead
    tr ul
    """.split()  # noqa: SIM905 - a list of words is easier to read
)
_CLEANER: Final = nh3.Cleaner(
    tags=set(_TAGS),
    clean_content_tags=set(),
    attributes={"a": {"href", "title"}, "ol": {"start"}},
    allowed_classes={
        "a": {"image-link"},
        "div": {"table-scroll"},
        "pre": {"code"},
        "span": {"dead-link", "task", *filter(None, STANDARD_TYPES.values())},
        "td": {"align-center", "align-right"},
        "th": {"align-center", "align-right"},
    },
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
    link_rel="noopener noreferrer nofollow",
)

_ALIGN: Final = {"Center": ' class="align-center"', "Right": ' class="align-right"'}
_SIMPLE: Final = {
    "Paragraph": "p",
    "BlockQuote": "blockquote",
    "Item": "li",
    "TableRow": "tr",
    "Emphasis": "em",
    "Strong": "strong",
    "Strikethrough": "del",
}
_NESTING: Final = {"BlockQuote", "Item", "List"}


def _size(html: Markup) -> int:
    return len(html)


_KEPT: Final[LRUCache[bytes, Markup]] = LRUCache(_CACHED_CHARACTERS, getsizeof=_size)
_LOCK: Final = Lock()


def _content(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).digest()


def forget() -> None:
    """Keep nothing of what was rendered so far."""
    with _LOCK:
        _KEPT.clear()


@cached(_KEPT, key=_content, lock=_LOCK)
def to_html(text: str) -> Markup:
    """``text`` as safe HTML, kept by content. Goes into an element with ``hx-ignore``."""
    text = visible(text)
    if len(text) > MAX_CHARACTERS:
        return Markup('<pre class="plain">{}</pre>').format(text)
    html = "".join(_Writer().write(pyromark.events(text, options=_OPTIONS)))
    return Markup(_CLEANER.clean(html))  # noqa: S704 - sanitized


def safe_address(address: str) -> str | None:
    """``address`` when a link may lead there, else None: relative and protocol-relative ones
    would lead into Vitrine itself, other schemes may run code.
    """
    return address if _ADDRESS.fullmatch(address) else None


def _link_open(address: str, *, css: str = "") -> str:
    """The start of a link. Its title is the address, so that no link text can hide it."""
    kind = f' class="{css}"' if css else ""
    quoted = escape(address)
    return f'<a{kind} href="{quoted}" title="{quoted}">'


def _linkified(text: str) -> str:
    parts: list[str] = []
    end = 0
    for match in _BARE_ADDRESS.finditer(text):
        address = match[0].rstrip(".,;:!?*_~)]}’”")
        if safe_address(address) is None:
            continue
        parts.append(escape(text[end : match.start()], quote=False))
        parts.append(f"{_link_open(address)}{escape(address, quote=False)}</a>")
        end = match.start() + len(address)
    parts.append(escape(text[end:], quote=False))
    return "".join(parts)


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


class _Writer:
    """Writes one document. ``open_links`` keeps bare addresses inside a link from becoming a
    second one; ``closers`` holds what ends each open tag, since an event's end does not say how
    it began.
    """

    def __init__(self) -> None:
        self.closers: list[str] = []
        self.open_links = 0
        self.depth = 0
        self.code: list[str] | None = None
        self.language = ""
        self.alignments: list[str] = []
        self.column = 0
        self.in_head = False

    def write(self, events: Iterator[Any]) -> Iterator[str]:
        for event in events:
            if isinstance(event, str):
                yield _LEAVES.get(event, "")
                continue
            ((name, value),) = event.items()
            if name == "Start":
                yield self._start(value)
            elif name == "End":
                yield self._end(value)
            elif name == "Code":
                yield f"<code>{escape(value, quote=False)}</code>"
            elif name == "TaskListMarker":
                yield f'<span class="task">{"☑" if value else "☐"}</span> '
            elif self.code is not None:
                self.code.append(value)
            elif name == "Text":
                yield escape(value, quote=False) if self.open_links else _linkified(value)
            elif isinstance(value, str):  # Html, InlineHtml: shown, never obeyed
                yield escape(value, quote=False)

    def _start(self, tag: Any) -> str:
        name, value = _named(tag)
        if name in _NESTING:
            self.depth += 1
            if self.depth > _MAX_DEPTH:
                self.closers.append("")
                return ""
        if name in _SIMPLE:
            element = _SIMPLE[name]
            self.closers.append(f"</{element}>\n" if element in _BLOCKS else f"</{element}>")
            if name == "TableRow":
                self.column = 0
            return f"<{element}>"
        opened, closer = _STARTS.get(name, _nothing)(self, value)
        self.closers.append(closer)
        return opened

    def _end(self, tag: Any) -> str:
        name, _ = _named(tag)
        if name in _NESTING:
            self.depth -= 1
        if name == "CodeBlock":
            source, self.code = "".join(self.code or ()), None
            self.closers.pop()
            return f'<pre class="code"><code>{highlight(source, self.language)}</code></pre>\n'
        if name in ("Link", "Image"):
            self.open_links -= 1
        elif name == "TableHead":
            self.in_head = False
        return self.closers.pop()

    def heading(self, value: Mapping[str, Any]) -> tuple[str, str]:
        # The page and the row come first in the outline, so the text's own headings begin at 3.
        level = min(6, int(str(value["level"])[-1]) + 2)
        return f"<h{level}>", f"</h{level}>\n"

    def code_block(self, value: Any) -> tuple[str, str]:
        self.code = []
        fence = value.get("Fenced", "") if isinstance(value, dict) else ""
        self.language = fence.split(maxsplit=1)[0] if fence.strip() else ""
        return "", ""

    def html_block(self, _value: Any) -> tuple[str, str]:
        return '<pre class="code"><code>', "</code></pre>\n"

    def list_of(self, value: Any) -> tuple[str, str]:
        if value is None:
            return "<ul>\n", "</ul>\n"
        start = "" if value == 1 else f' start="{int(value)}"'
        return f"<ol{start}>\n", "</ol>\n"

    def link(self, value: Mapping[str, Any]) -> tuple[str, str]:
        self.open_links += 1
        target = value["dest_url"]
        if value.get("link_type") == "Email" and not target.lower().startswith("mailto:"):
            target = f"mailto:{target}"
        address = safe_address(target)
        if address is None or self.open_links > 1:
            return '<span class="dead-link">', "</span>"
        return _link_open(address), "</a>"

    def image(self, value: Mapping[str, Any]) -> tuple[str, str]:
        self.open_links += 1
        address = safe_address(value["dest_url"])
        if address is None or self.open_links > 1:
            return '<span class="dead-link">', " (image, not loaded)</span>"
        host = escape(_host(address), quote=False)
        return _link_open(address, css="image-link"), f" (image at {host}, not loaded)</a>"

    def table(self, value: list[str]) -> tuple[str, str]:
        self.alignments = list(value)
        return '<div class="table-scroll"><table>\n', "</tbody></table></div>\n"

    def table_head(self, _value: Any) -> tuple[str, str]:
        self.in_head, self.column = True, 0
        return "<thead><tr>", "</tr></thead><tbody>\n"

    def table_cell(self, _value: Any) -> tuple[str, str]:
        element = "th" if self.in_head else "td"
        index, self.column = self.column, self.column + 1
        align = self.alignments[index] if index < len(self.alignments) else ""
        return f"<{element}{_ALIGN.get(align, '')}>", f"</{element}>"


def _named(tag: Any) -> tuple[str, Any]:
    """An event's tag as (name, value): one without a value is a plain text."""
    if isinstance(tag, str):
        return tag, None
    ((name, value),) = tag.items()
    return name, value


def _nothing(_writer: _Writer, _value: Any) -> tuple[str, str]:
    return "", ""


_BLOCKS: Final = {"p", "blockquote", "li", "tr"}
_LEAVES: Final = {"SoftBreak": "\n", "HardBreak": "<br>\n", "Rule": "<hr>\n"}
_STARTS: Final[dict[str, Callable[[_Writer, Any], tuple[str, str]]]] = {
    "Heading": _Writer.heading,
    "CodeBlock": _Writer.code_block,
    "List": _Writer.list_of,
    "Link": _Writer.link,
    "Image": _Writer.image,
    "HtmlBlock": _Writer.html_block,
    "Table": _Writer.table,
    "TableHead": _Writer.table_head,
    "TableCell": _Writer.table_cell,
}
