"""A person's yes to exactly one call: a handle that the server makes when it asks, bound to the
sign-in and to everything that was asked, and good once.

The question is shown by the page; that is no proof of what was shown. So the server keeps a digest
of what it asked for, and lets nothing else through.
"""

import hashlib
import json
import secrets
from datetime import timedelta
from typing import Any, Final, cast

from sqlalchemy import CursorResult, delete, update
from sqlmodel import Session, col

from app.db import tables

# A minute in which the question may wait behind others, one in which it is shown, and some.
LIFETIME: Final = timedelta(seconds=150)


def digest(facts: object) -> str:
    """SHA-256 of a JSON value, however its objects are ordered."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _hash(handle: str) -> str:
    return hashlib.sha256(handle.encode("utf-8", "replace")).hexdigest()


def issue(db: Session, login_id: str, asked: str) -> str:
    """The handle of a question with the digest ``asked``."""
    moment = tables.now()
    row = tables.Approval
    db.execute(delete(row).where(col(row.expires_at) < moment))
    handle = secrets.token_urlsafe(32)
    db.add(
        tables.Approval(
            token_hash=_hash(handle),
            login_id=login_id,
            digest=asked,
            expires_at=moment + LIFETIME,
        )
    )
    return handle


def use(db: Session, login_id: str, handle: str, asked: str) -> bool:
    """Whether ``handle`` is this sign-in's, new, in time, and was made for ``asked``. It is used up
    in any case: one that comes with another call is in the wrong hands.
    """
    row = tables.Approval
    moment = tables.now()
    # One statement decides, so that of two clicks at once only one counts.
    taken = cast(
        CursorResult[Any],
        db.execute(
            update(row)
            .where(
                col(row.token_hash) == _hash(handle),
                col(row.login_id) == login_id,
                col(row.used_at).is_(None),
                col(row.expires_at) > moment,
            )
            .values(used_at=moment)
        ),
    )
    if taken.rowcount != 1:
        return False
    found = db.get(row, _hash(handle))
    return found is not None and secrets.compare_digest(found.digest, asked)
