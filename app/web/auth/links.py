"""One-time sign-in links, printed by the command line."""

from datetime import timedelta
from typing import Final, cast

from sqlalchemy import CursorResult, delete, update
from sqlmodel import Session, col

from app.db import tables
from app.db.engine import Database
from app.web.auth.tokens import new_token, token_hash

LINK_LIFETIME: Final = timedelta(hours=24)


def issue_sign_in_link(database: Database) -> str:
    """A token that ``/sign-in/{token}`` takes once within ``LINK_LIFETIME``.

    Earlier links stay good: several processes may each have printed one.
    """
    token, moment = new_token(), tables.now()
    row = tables.SignInLink
    with database.session() as db:
        db.execute(delete(row).where(col(row.expires_at) < moment - LINK_LIFETIME))
        db.add(row(token_hash=token_hash(token), expires_at=moment + LINK_LIFETIME))
    return token


def revoke_all(db: Session) -> None:
    """No link printed so far works any more."""
    row = tables.SignInLink
    db.execute(delete(row).where(col(row.used_at).is_(None)))


def consume(db: Session, token: str) -> bool:
    """Whether ``token`` was good; from now on it is not. One statement, so that of two requests
    with the same link only one wins.
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
    return cast(CursorResult[object], result).rowcount == 1
