"""The audit page, and the same events for a program."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Self

from app.db import tables
from app.db.tables import AuditKind, AuditOutcome
from app.mcp_apps.audit import PERSON, VARIED
from app.text import one_line

KIND_LABELS: Final[Mapping[str, str]] = {
    AuditKind.TOOL_CALL: "Tool call",
    AuditKind.RESOURCE_READ: "Resource read",
    AuditKind.LISTING: "Listing",
    AuditKind.VIEW_REQUEST: "View’s request",
    AuditKind.MESSAGE: "Message",
    AuditKind.CONTEXT: "Context update",
    AuditKind.LINK: "Link",
    AuditKind.DOWNLOAD: "Download",
    AuditKind.GRANT: "Grant",
    AuditKind.SETTING: "Setting",
    AuditKind.SIGN_IN: "Sign-in",
    AuditKind.SIGN_OUT: "Sign-out",
    AuditKind.SESSION_DELETE: "Session deleted",
    AuditKind.OTHER: "Other",
}
OUTCOME_LABELS: Final[Mapping[str, str]] = {
    AuditOutcome.OK: "done",
    AuditOutcome.ERROR: "failed",
    AuditOutcome.REFUSED: "refused",
    AuditOutcome.DENIED: "denied",
    AuditOutcome.LIMITED: "too often",
    AuditOutcome.UNREACHABLE: "not reached",
    AuditOutcome.TIMEOUT: "timed out",
    AuditOutcome.ASKED: "asked",
    AuditOutcome.CANCELLED: "given up",
}
# These say what was done by the name of its route.
_BY_ROUTE: Final = {
    AuditKind.VIEW_REQUEST,
    AuditKind.GRANT,
    AuditKind.SETTING,
    AuditKind.SIGN_IN,
    AuditKind.SIGN_OUT,
    AuditKind.SESSION_DELETE,
    AuditKind.OTHER,
}
_UNITS: Final = ("bytes", "KB", "MB", "GB", "TB")


def _size(size: int) -> str:
    value, unit = float(size), 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{size:,} {_UNITS[0]}" if not unit else f"{value:.1f} {_UNITS[unit]}"


def _duration(milliseconds: int) -> str:
    return f"{milliseconds:,} ms" if milliseconds < 10_000 else f"{milliseconds / 1000:,.0f} s"


@dataclass(frozen=True, slots=True)
class AuditItem:
    """``what`` is the tool, the address or the route; ``facts`` are short texts about it.
    ``session`` is empty where the session is gone.
    """

    id: int
    kind: str
    outcome: str
    good: bool
    what: str
    count: int
    at: datetime
    last_at: datetime
    person: str
    principal: str
    session_id: str
    session: str
    address: str
    facts: list[str]

    @classmethod
    def of(cls, row: tables.AuditEvent, titles: Mapping[str, str]) -> Self:
        title = titles.get(row.session_id)
        return cls(
            id=row.id or 0,
            kind=KIND_LABELS.get(row.kind, row.kind),
            outcome=OUTCOME_LABELS.get(row.outcome, row.outcome),
            good=row.outcome == AuditOutcome.OK,
            what=one_line(row.tool or _said(row), 300),
            count=row.count,
            at=row.at,
            last_at=row.last_at,
            person=one_line(row.person, 64) or "nobody signed in",
            principal="" if row.principal == PERSON else one_line(row.principal, 300),
            session_id=row.session_id if title is not None else "",
            session=one_line(" ".join((title or "").split()), 60) or "Untitled session",
            address=row.address,
            facts=list(_facts(row, gone=bool(row.session_id) and title is None)),
        )


def _said(row: tables.AuditEvent) -> str:
    """A route's name in words; every other text as it is."""
    route, *rest = row.about.split(" ")
    return " ".join([route.replace("_", " "), *rest]) if row.kind in _BY_ROUTE else row.about


def _facts(row: tables.AuditEvent, *, gone: bool) -> Iterable[str]:
    if gone:
        yield f"session {one_line(row.session_id, 64)}, which is gone"
    if row.count == 1 and row.latency_ms:
        yield _duration(row.latency_ms)
    elif row.latency_ms:
        mean = round(row.latency_ms / row.count)
        yield f"{_duration(mean)} on average, {_duration(row.latency_max_ms)} at most"
    if row.request_bytes:
        yield f"{_size(row.request_bytes)} sent"
    if row.result_bytes:
        yield f"{_size(row.result_bytes)} received"
    if row.arguments_hash == VARIED:
        yield "arguments varied"
    elif row.arguments_hash:
        yield f"hash {row.arguments_hash[:12]}…"


@dataclass(frozen=True, slots=True)
class AuditPage:
    """``asked`` is what the form holds; ``older`` and ``newest`` are queries of links, ``older``
    None on the last page and ``newest`` on the first.
    """

    items: list[AuditItem]
    asked: Mapping[str, str]
    servers: list[str]
    people: list[str]
    days: int
    older: Mapping[str, str] | None
    newest: Mapping[str, str] | None

    @property
    def narrowed(self) -> bool:
        return any(self.asked.values())

    @property
    def kinds(self) -> Mapping[str, str]:
        return KIND_LABELS

    @property
    def outcomes(self) -> Mapping[str, str]:
        return OUTCOME_LABELS


def exported(row: tables.AuditEvent) -> dict[str, Any]:
    """One event of the export. Times are ISO 8601 in UTC."""
    return {
        "id": row.id,
        "time": row.at.isoformat(),
        "last_time": row.last_at.isoformat(),
        "count": row.count,
        "kind": row.kind,
        "outcome": row.outcome,
        "person": row.person,
        "person_id": row.person_id,
        "login": row.login_id,
        "principal": row.principal,
        "session": row.session_id,
        "tool_call_id": row.tool_call_id,
        "address": row.address,
        "server": row.server,
        "tool": row.tool,
        "about": row.about,
        "latency_ms": row.latency_ms,
        "latency_max_ms": row.latency_max_ms,
        "request_bytes": row.request_bytes,
        "result_bytes": row.result_bytes,
        "arguments_hash": row.arguments_hash,
    }
