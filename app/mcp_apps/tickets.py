"""Leave to load a document: one use, one minute, one sign-in, one panel.

A ticket keeps a view from navigating to, or framing, another view's document, and keeps a
document's address worthless once it has been used. Rows, so that every process knows them.
"""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, cast

from sqlalchemy import CursorResult, delete, update
from sqlmodel import Session, col

from app.db import tables
from app.errors import VitrineError
from app.mcp_apps import documents

LIFETIME: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Issued:
    """``token`` goes into the address; ``nonce`` binds the document's prelude to the broker."""

    token: str
    nonce: str


@dataclass(frozen=True, slots=True)
class Admission:
    """What a valid ticket opens: the document as stored, and the headers granted with it."""

    html: str
    nonce: str
    headers: Mapping[str, str]


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def issue(
    db: Session,
    *,
    login_id: str,
    session_id: str,
    tool_call_id: str,
    content_hash: str,
    headers: Mapping[str, str],
) -> Issued:
    """A new ticket for a document that ``documents.store`` has kept."""
    moment = tables.now()
    db.execute(delete(tables.Ticket).where(col(tables.Ticket.expires_at) < moment - LIFETIME))
    issued = Issued(token=secrets.token_urlsafe(32), nonce=secrets.token_urlsafe(24))
    db.add(
        tables.Ticket(
            token_hash=_hash(issued.token),
            login_id=login_id,
            session_id=session_id,
            tool_call_id=tool_call_id,
            content_hash=content_hash,
            nonce=issued.nonce,
            headers=dict(headers),
            expires_at=moment + LIFETIME,
        )
    )
    return issued


def consume(db: Session, token: str, login_id: str) -> Admission:
    """Use the ticket. Raises ``VitrineError`` 410 for one that is used, late, unknown or
    another sign-in's: which of these it was is nobody's business but its owner's.
    """
    ticket = tables.Ticket
    moment = tables.now()
    # One statement decides, so that two requests at once cannot both be let in.
    taken = cast(
        CursorResult[Any],
        db.execute(
            update(ticket)
            .where(
                col(ticket.token_hash) == _hash(token),
                col(ticket.login_id) == login_id,
                col(ticket.used_at).is_(None),
                col(ticket.expires_at) > moment,
            )
            .values(used_at=moment)
        ),
    )
    row = db.get(ticket, _hash(token)) if taken.rowcount == 1 else None
    html = documents.load(db, row.content_hash) if row is not None else None
    if row is None or html is None:
        raise VitrineError(410, "A view’s address works once. Reload the panel to get a new one.")
    return Admission(html=html, nonce=row.nonce, headers=row.headers)
