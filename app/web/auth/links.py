"""One-time sign-in links: a person's way in until they have a password, or have forgotten it."""

from datetime import timedelta
from typing import Final, cast

from sqlalchemy import CursorResult, delete, or_, update
from sqlmodel import Session, col, select

from app.db import tables
from app.db.engine import Database
from app.web.auth import users
from app.web.auth.tokens import new_token, token_hash

LINK_LIFETIME: Final = timedelta(hours=24)


def issue_sign_in_link(database: Database, name: str = "") -> str:
    """A link of the operator, or of the person called ``name``. Raises ``NotFoundError``."""
    with database.session() as db:
        user = users.named(db, name) if name else users.operator(db)
        return issue(db, user.id)


def issue(db: Session, user_id: str) -> str:
    """A token that ``/sign-in/{token}`` takes once within ``LINK_LIFETIME``, for that person.

    Earlier links stay good: several processes may each have printed one.
    """
    token, moment = new_token(), tables.now()
    row = tables.SignInLink
    db.execute(delete(row).where(col(row.expires_at) < moment - LINK_LIFETIME))
    expires = moment + LINK_LIFETIME
    db.add(row(token_hash=token_hash(token), expires_at=expires, user_id=user_id))
    return token


def revoke_all(db: Session, user_id: str) -> None:
    """No link of that person printed so far works any more, nor one of an older version, which
    belongs to nobody.
    """
    row = tables.SignInLink
    theirs = or_(col(row.user_id) == user_id, col(row.user_id).is_(None))
    db.execute(delete(row).where(col(row.used_at).is_(None), theirs))


def consume(db: Session, token: str) -> str | None:
    """The id of the person whom ``token`` signs in, or None where it was not good; from now on it
    is not. One statement, so that of two requests with the same link only one wins.
    """
    row, moment = tables.SignInLink, tables.now()
    result = db.execute(
        update(row)
        .where(
            col(row.token_hash) == token_hash(token),
            col(row.used_at).is_(None),
            col(row.expires_at) > moment,
        )
        .values(used_at=moment)
    )
    if cast(CursorResult[object], result).rowcount != 1:
        return None
    found = db.exec(select(row.user_id).where(col(row.token_hash) == token_hash(token))).one()
    return found or users.operator(db).id
