"""What the principal of a view may do with the tools of its server.

A view never acts as the agent or the person. The operator says for each server whether its views
call tools freely, ask before, or not at all; and a person's yes can be kept for one tool of one
view in one session.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, cast

from sqlalchemy import CursorResult, delete
from sqlmodel import Session, col, select

from app.db import tables
from app.db.upsert import insert_once
from app.errors import NotFoundError
from app.mcp_apps.resolve import PanelCall
from app.text import storable

MOST_LISTED: Final = 200


class Calls(StrEnum):
    """What views of a server may call of the tools that they see."""

    ALLOWED = "allowed"
    ASK = "ask"  # before those that are not marked read-only
    NONE = "none"


class Verdict(StrEnum):
    FREE = "free"
    ASK = "ask"
    ASK_EACH_TIME = "ask-each-time"  # no yes is kept
    NO = "no"


def judge(calls: str, raw_tool: Mapping[str, Any]) -> Verdict:
    """Whether a tool, as its server lists it, may be called where ``calls`` is the choice.

    The hints are the server's own words, so they only ever add a question: a claim to be harmless
    counts where it is plainly made and nothing contradicts it, and whatever of ``destructiveHint``
    is not a plain no is a yes.
    """
    if calls not in (Calls.ALLOWED, Calls.ASK):
        return Verdict.NO
    hints = raw_tool.get("annotations")
    if hints is None:
        hints = {}
    if not isinstance(hints, Mapping):
        return Verdict.ASK_EACH_TIME
    destructive = hints.get("destructiveHint")
    # By identity: 0 equals False, and is as unreadable as any other value that is no boolean.
    if destructive is not None and destructive is not False:
        return Verdict.ASK_EACH_TIME
    if calls == Calls.ALLOWED or hints.get("readOnlyHint") is True:
        return Verdict.FREE
    return Verdict.ASK


def set_calls(db: Session, server: tables.Server, calls: Calls) -> None:
    server.calls = calls
    db.add(server)
    db.flush()


def remember(db: Session, panel: PanelCall, user_id: str, tool: str) -> None:
    """Keeps this person's yes to ``tool`` of the panel's view, in the panel's session."""
    values = {
        "id": _id(panel, user_id, tool),
        "user_id": user_id,
        "session_id": panel.call.session_id,
        "server_id": panel.server.id,
        "principal": storable(panel.principal),
        "tool": storable(tool),
        "created_at": tables.now(),
    }
    insert_once(db, tables.Grant, values, ["id"])


def is_remembered(db: Session, panel: PanelCall, user_id: str, tool: str) -> bool:
    return db.get(tables.Grant, _id(panel, user_id, tool)) is not None


def _id(panel: PanelCall, user_id: str, tool: str) -> str:
    # Not a key of five columns: names may be longer than PostgreSQL lets an index entry be.
    facts = [user_id, panel.call.session_id, panel.server.id, panel.principal, tool]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Listed:
    """A yes that is kept, with the name of who gave it and the title of the session."""

    grant: tables.Grant
    user: str
    session_title: str


def of_server(db: Session, server_id: int) -> Sequence[Listed]:
    """Newest first, ``MOST_LISTED`` at most."""
    grant = tables.Grant
    rows = db.exec(
        select(grant, tables.User.name, tables.Session.title)
        .join(tables.User, col(tables.User.id) == col(grant.user_id))
        .join(tables.Session, col(tables.Session.id) == col(grant.session_id))
        .where(grant.server_id == server_id)
        .order_by(col(grant.created_at).desc(), col(grant.id))
        .limit(MOST_LISTED)
    )
    return [Listed(row, user, title) for row, user, title in rows]


def revoke(db: Session, server_id: int, grant_id: str) -> None:
    """Raises ``NotFoundError`` where this server has no such grant."""
    row = tables.Grant
    gone = cast(
        CursorResult[Any],
        db.execute(delete(row).where(col(row.id) == grant_id, col(row.server_id) == server_id)),
    )
    if gone.rowcount != 1:
        raise NotFoundError("This was revoked already.")
