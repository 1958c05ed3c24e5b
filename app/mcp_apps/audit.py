"""The audit trail: who did what through which view, and how it ended.

Never arguments, texts or results, and no address with its path and query: of these a keyed hash,
which tells that two were the same. Keyed, because "amount: 100" is guessed in a moment by whoever
reads an export and tries; the key stays in the database and is in no export.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from sqlalchemy import ColumnElement, case, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session, SQLModel, col

from app.db import tables
from app.db.engine import Database
from app.db.tables import AuditKind, AuditOutcome
from app.db.upsert import insert_once
from app.mcp.errors import McpError, NotPermitted, ServerRejected, ServerTimeout, ServerUnreachable
from app.mcp_apps.jsonrpc import INTERNAL_ERROR, REFUSED, RpcError
from app.text import one_line, storable

FOLD_WITHIN: Final = timedelta(minutes=10)  # of the row's last time
ROW_SPANS: Final = timedelta(days=1)  # at most, so that a view that polls for weeks has a history
VARIED: Final = "varied"  # in the place of the hash of arguments that were not all the same
PERSON: Final = "person"  # the principal of what a person did without a view

_KEY: Final = "audit.hash_key"
_TABLE: Final = SQLModel.metadata.tables["audit_events"]
_KINDS: Final[Mapping[str, AuditKind]] = {
    "tools/call": AuditKind.TOOL_CALL,
    "resources/read": AuditKind.RESOURCE_READ,
    "tools/list": AuditKind.LISTING,
    "resources/list": AuditKind.LISTING,
    "resources/templates/list": AuditKind.LISTING,
}
_REASONS: Final[Mapping[str, AuditOutcome]] = {
    "ask": AuditOutcome.ASKED,
    "denied": AuditOutcome.DENIED,
    "busy": AuditOutcome.LIMITED,
    "limit": AuditOutcome.LIMITED,
    "cancelled": AuditOutcome.CANCELLED,
}


@dataclass(frozen=True, slots=True)
class Event:
    """One deed. ``person_id`` is a user's id; sizes are bytes, ``latency_ms`` milliseconds."""

    kind: AuditKind
    outcome: AuditOutcome
    person_id: str = ""
    login_id: str = ""
    session_id: str = ""
    tool_call_id: str = ""
    address: str = ""
    principal: str = PERSON
    server: str = ""
    tool: str = ""
    about: str = ""
    latency_ms: int = 0
    request_bytes: int = 0
    result_bytes: int = 0
    arguments_hash: str = ""
    at: datetime = field(default_factory=tables.now)

    def _texts(self) -> dict[str, str]:
        """What two events must share to be one row, cut to what a row takes."""
        return {
            "kind": self.kind.value,
            "outcome": self.outcome.value,
            "person_id": self.person_id[:32],
            "login_id": self.login_id[:32],
            "session_id": _line(self.session_id, 64),
            "tool_call_id": _line(self.tool_call_id, 200),
            "address": _line(self.address, 40),
            "principal": _line(self.principal, 300),
            "server": _line(self.server, 200),
            "tool": _line(self.tool, 200),
            "about": _line(self.about, 300),
        }


def _line(text: str, limit: int) -> str:
    # Cut twice: what is spelt out is longer than it was.
    return one_line(storable(text), limit)[:limit]


def hash_key(database: Database) -> bytes:
    """The key of this deployment's hashes, made when there is none."""
    with database.session() as db:
        made = json.dumps(secrets.token_hex(32))
        insert_once(db, tables.Setting, {"key": _KEY, "value": made}, ["key"])
        return bytes.fromhex(json.loads(db.get_one(tables.Setting, _KEY).value))


def digest(key: bytes, value: object) -> str:
    """HMAC-SHA-256 of ``value`` as JSON, in hexadecimal; equal objects have equal ones."""
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError):
        return ""
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def masked_uri(uri: str) -> str:
    """What of an address may be read by anybody: scheme and host. Of ``ui://``, which names a
    document and holds no key, the path too.
    """
    try:
        parts = urlsplit(uri)
        host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
    except ValueError:
        return "…"
    if not parts.scheme:
        return "…"
    if not parts.netloc:
        return f"{parts.scheme}:…"
    if parts.scheme == "ui":
        return f"ui://{host}{parts.path}" + ("?…" if parts.query else "")
    more = parts.path not in ("", "/") or parts.query or parts.fragment
    return f"{parts.scheme}://{host}" + ("/…" if more else "")


class Asked(NamedTuple):
    """What a view asks for. ``hashed`` is all that is not told otherwise, or None."""

    kind: AuditKind
    tool: str = ""
    about: str = ""
    hashed: object = None


def asked_for(method: object, params: object) -> Asked:
    """Of a request to the proxy, of any shape."""
    kind = _KINDS.get(method, AuditKind.VIEW_REQUEST) if isinstance(method, str) else None
    given: Mapping[str, Any] = params if isinstance(params, Mapping) else {}
    match kind:
        case AuditKind.TOOL_CALL:
            name = given.get("name")
            tool = name if isinstance(name, str) else ""
            return Asked(kind, tool, hashed=given.get("arguments"))
        case AuditKind.RESOURCE_READ:
            uri = given.get("uri")
            about = masked_uri(uri) if isinstance(uri, str) else ""
            return Asked(kind, about=about, hashed=uri)
    said = one_line(method, 60) if isinstance(method, str) else ""
    return Asked(kind or AuditKind.VIEW_REQUEST, about=said, hashed=params)


def outcome_of(error: RpcError) -> AuditOutcome:
    """How a view's request that failed is told apart from one that was not let through."""
    cause = error.__cause__
    if isinstance(cause, NotPermitted):
        return AuditOutcome.REFUSED
    if isinstance(cause, ServerTimeout):
        return AuditOutcome.TIMEOUT
    if isinstance(cause, ServerUnreachable):
        return AuditOutcome.UNREACHABLE
    if isinstance(cause, ServerRejected):
        return AuditOutcome.ERROR
    if isinstance(error.data, Mapping) and error.code == REFUSED:
        reason = error.data.get("reason")
        if isinstance(reason, str) and reason in _REASONS:
            return _REASONS[reason]
        if "retryAfterMs" in error.data:
            return AuditOutcome.LIMITED
    if error.code == INTERNAL_ERROR or isinstance(cause, McpError):
        return AuditOutcome.ERROR
    return AuditOutcome.REFUSED


def write(db: Session, events: Iterable[Event]) -> None:
    """Each becomes a row, or one more in the row of the same kind that is not yet over."""
    rows = [(_fold_key(texts), event, texts) for event in events for texts in (event._texts(),)]
    # In one order everywhere: two processes that lock the same rows must not wait for each other.
    for key, event, texts in sorted(rows, key=lambda row: row[0]):
        _write_one(db, key, event, texts)


def _fold_key(texts: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()


def _write_one(db: Session, key: str, event: Event, texts: Mapping[str, str]) -> None:
    # First of all a statement that writes: on SQLite no reading may come before it.
    db.execute(
        update(_TABLE)
        .where(
            _TABLE.c.fold_key == key,
            or_(
                _TABLE.c.last_at < event.at - FOLD_WITHIN,
                _TABLE.c.at < event.at - ROW_SPANS,
            ),
        )
        .values(fold_key=None)
    )
    user = tables.User
    name = select(col(user.name)).where(col(user.id) == texts["person_id"]).scalar_subquery()
    is_postgres = db.get_bind().dialect.name == "postgresql"
    insert: Any = (postgresql.insert if is_postgres else sqlite.insert)(_TABLE).values(
        **texts,
        person=func.coalesce(name, ""),
        at=event.at,
        last_at=event.at,
        count=1,
        latency_ms=event.latency_ms,
        latency_max_ms=event.latency_ms,
        request_bytes=event.request_bytes,
        result_bytes=event.result_bytes,
        arguments_hash=event.arguments_hash,
        fold_key=key,
    )
    new, old = insert.excluded, _TABLE.c
    added = ("count", "latency_ms", "request_bytes", "result_bytes")
    same = old.arguments_hash == new.arguments_hash
    changed: dict[str, ColumnElement[Any]] = {
        **{column: old[column] + new[column] for column in added},
        "last_at": _greater(old.last_at, new.last_at),
        "latency_max_ms": _greater(old.latency_max_ms, new.latency_max_ms),
        "arguments_hash": case((same, old.arguments_hash), else_=VARIED),
    }
    db.execute(insert.on_conflict_do_update(index_elements=["fold_key"], set_=changed))


def _greater(one: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[Any]:
    return case((one > other, one), else_=other)
