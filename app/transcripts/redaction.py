"""Hiding secrets in transcript lines before anything is stored.

A transcript is kept byte for byte, and places in it are byte offsets of the agent's own file. So
what is hidden keeps its length: every byte becomes ``*``. Only text inside JSON strings is
touched; a line that would not be JSON any more is hidden whole.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.errors import VitrineError

CONTEXT: Final = 8 * 1024  # bytes; a longer secret in a line that is read in pieces may show
MAX_RULES: Final = 200
_MARK: Final = b"*"
# Rare bytes of needles, the rarest in transcripts first.
_RARE: Final = b"A_-"
# Inside a match: an escape is hidden whole, a quote ends the string and with it the secret.
_UNIT: Final = re.compile(rb"\\u[0-9a-fA-F]{4}|\\.|[^\"\\\n]+|\\|\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """``pattern`` is matched on the raw line, so within JSON strings as they are escaped there.
    With a group called ``secret`` only that is hidden. ``needle`` is in every match, if known.
    """

    pattern: re.Pattern[bytes]
    needle: bytes = b""


def _token(needle: str, rest: str) -> Rule:
    return Rule(re.compile((re.escape(needle) + rest).encode()), needle.encode())


# Formats that their issuers publish: long, and with a beginning that nothing else has.
SECRETS: Final = (
    _token("sk-ant-", r"[A-Za-z0-9_-]{20,}"),
    _token("sk-proj-", r"[A-Za-z0-9_-]{20,}"),
    _token("ghp_", r"[A-Za-z0-9]{36,}"),
    _token("gho_", r"[A-Za-z0-9]{36,}"),
    _token("ghs_", r"[A-Za-z0-9]{36,}"),
    _token("github_pat_", r"[A-Za-z0-9_]{60,}"),
    _token("glpat-", r"[A-Za-z0-9_-]{20,}"),
    _token("xoxb-", r"[A-Za-z0-9-]{20,}"),
    _token("xoxp-", r"[A-Za-z0-9-]{20,}"),
    _token("AKIA", r"[A-Z0-9]{16}\b"),
    _token("ASIA", r"[A-Z0-9]{16}\b"),
    _token("AIza", r"[A-Za-z0-9_-]{35}\b"),
    _token("npm_", r"[A-Za-z0-9]{36}\b"),
    Rule(
        re.compile(
            rb"-----BEGIN [A-Z ]*PRIVATE KEY-----(?P<secret>[^\"]{1,8000}?)"
            rb"-----END [A-Z ]*PRIVATE KEY-----"
        ),
        b"PRIVATE KEY-----",
    ),
)


def _signs(needles: Iterable[bytes]) -> tuple[re.Pattern[bytes], ...]:
    """One of these is found in what holds a needle, and none in anything else. A pattern that
    begins with a byte skips to the next such byte: a few that begin with rare ones cost a third of
    what searching for every needle does.
    """
    found: dict[bytes, list[bytes]] = {}
    for needle in needles:
        at = needle.index(next((byte for byte in _RARE if byte in needle), needle[0]))
        before, after = re.escape(needle[: at + 1]), re.escape(needle[at + 1 :])
        found.setdefault(needle[at : at + 1], []).append(b"(?<=" + before + b")" + after)
    return tuple(
        re.compile(re.escape(byte) + b"(?:" + b"|".join(rests) + b")")
        for byte, rests in found.items()
    )


class Redactor:
    """Applies ``rules`` to whole lines. Without rules it gives back what it got."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._rules = tuple(rules)
        self._signs = _signs(rule.needle for rule in self._rules if rule.needle)

    def __call__(self, data: bytes) -> bytes:
        """``data`` (whole lines, or a part of one) with its secrets hidden, of the same length."""
        hidden = data
        signs = any(sign.search(data) for sign in self._signs)
        for rule in self._rules:
            if not rule.needle or (signs and rule.needle in hidden):
                hidden = rule.pattern.sub(_masked, hidden)
        return hidden if hidden == data else _still_json(data, hidden)

    @property
    def is_off(self) -> bool:
        return not self._rules


def load(setting: str, rules_file: Path | None) -> Redactor:
    """The redactor for the settings: ``on`` or ``off`` for the built-in rules, and a file with one
    regular expression a line (``#`` begins a comment). Raises ``VitrineError`` with a sentence
    for a file that cannot be used.
    """
    rules = list(SECRETS) if setting == "on" else []
    if rules_file is not None:
        rules += _own(rules_file)
    return Redactor(rules)


def _own(path: Path) -> list[Rule]:
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeError) as error:
        raise VitrineError(500, f"The redaction rules {path} cannot be read: {error}.") from error
    rules = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            pattern = re.compile(text.encode())
        except re.error as error:
            raise VitrineError(
                500, f"Line {number} of the redaction rules {path} is no pattern: {error}."
            ) from error
        if pattern.match(b"") is not None:
            raise VitrineError(
                500, f"Line {number} of the redaction rules {path} matches the empty text."
            )
        rules.append(Rule(pattern))
    if len(rules) > MAX_RULES:
        raise VitrineError(500, f"At most {MAX_RULES} redaction rules are taken.")
    return rules


def _masked(match: re.Match[bytes]) -> bytes:
    whole, start = match.group(), match.start()
    begin, end = match.span("secret") if "secret" in match.re.groupindex else match.span()
    if begin < 0:
        return whole
    begin += _inside_escape(match.string, begin)
    at, parts = begin, [match.string[start:begin]]
    while at < end and (unit := _UNIT.match(match.string, at, end)) is not None:
        # A line's end stays: files that agents keep beside a transcript are plain text.
        parts.append(b"\n" if unit.group() == b"\n" else _MARK * (unit.end() - at))
        at = unit.end()
    return b"".join([*parts, match.string[at : match.end()]]) if begin < end else whole


def _inside_escape(data: bytes, at: int) -> int:
    """How many bytes at ``at`` belong to an escape that began before it: hidden alone, they would
    leave a backslash that escapes a star.
    """
    slashes = 0
    while slashes < at and data[at - slashes - 1] == 0x5C:
        slashes += 1
    if slashes % 2 == 0:
        return 0
    return 5 if data[at : at + 1] == b"u" else 1


def _still_json(before: bytes, after: bytes) -> bytes:
    """``after``, where a line that was JSON and is none any more is hidden whole."""
    if len(before) != len(after):
        raise AssertionError("hiding a secret keeps the length")
    lines = []
    for old, new in zip(before.split(b"\n"), after.split(b"\n"), strict=True):
        broken = old != new and _is_json(old) and not _is_json(new)
        lines.append(_MARK * len(old) if broken else new)
    return b"\n".join(lines)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True
