"""Passwords: what one may be, how it is kept, and what signing in or changing it ends.

Kept as an argon2id hash with the library's parameters, those of RFC 9106 for little memory: a
check takes a tenth of a second and 64 MiB. Every function here is slow on purpose: call it in a
thread.
"""

import logging
import unicodedata
from typing import Final, cast

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import CursorResult, update
from sqlmodel import Session, col

from app.db import tables
from app.db.engine import Database
from app.errors import VitrineError
from app.web.auth import links, logins, users
from app.web.auth.logins import NewLogin

MIN_CHARACTERS: Final = 10
MAX_CHARACTERS: Final = 1024
RULE: Final = f"{MIN_CHARACTERS} characters or more; a few words in a row make a good one."

_log = logging.getLogger("vitrine.auth")
_hasher = PasswordHasher()


class PasswordRefusedError(VitrineError):
    """``field`` is the one to look at: ``current``, ``new`` or ``again``."""

    def __init__(self, status: int, field: str, sentence: str) -> None:
        super().__init__(status, sentence)
        self.field = field


def sign_in(
    database: Database,
    password: str,
    *,
    name: str = users.OPERATOR,
    days: int,
    replacing: str | None,
) -> NewLogin | None:
    """A new login when ``password`` is that of the person called ``name``, else None. Takes as
    long when there is no password to compare with, or nobody of that name.
    """
    with database.session() as db:
        user = users.find(db, name)
    stored = user.password_hash if user else None
    if not _matches(stored, password) or user is None or stored is None:
        return None
    kept = _hasher.hash(_normal(password)) if _hasher.check_needs_rehash(stored) else stored
    with database.session() as db:
        if not _replace(db, user.id, stored, kept):
            return None  # changed meanwhile, and everybody was signed out
        return logins.begin(db, user.id, days=days, replacing=replacing)


def change(
    database: Database, user_id: str, *, current: str, new: str, again: str, days: int
) -> NewLogin:
    """Set that person's password, or change it when ``current`` is right. Ends every login and
    every unused link of theirs; the answer is a login for the browser that asked.

    Raises ``PasswordRefusedError``, and ``NotFoundError`` for somebody removed meanwhile.
    """
    new = checked(new)
    if _normal(again) != new:
        raise PasswordRefusedError(400, "again", "The two new passwords are not the same.")
    with database.session() as db:
        user = users.entry(db, user_id)
    if user.password_hash is not None and not _matches(user.password_hash, current):
        raise PasswordRefusedError(403, "current", "This is not the current password.")
    hashed = _hasher.hash(new)
    with database.session() as db:
        if not _replace(db, user.id, user.password_hash, hashed):
            raise PasswordRefusedError(
                409,
                "current",
                "The password was changed elsewhere a moment ago. Nothing was changed here.",
            )
        _end_everything(db, user.id)
        return logins.begin(db, user.id, days=days)


def reset(database: Database, new: str, name: str = "") -> str:
    """Set the password of the operator, or of the person called ``name``, whatever it was, for
    whoever has the machine. Ends every login and every unused link of theirs. The answer is their
    name. Raises ``PasswordRefusedError`` and ``NotFoundError``.
    """
    new = checked(new)
    with database.session() as db:  # before the slow part: a misspelt name is said at once
        user_id = (users.named(db, name) if name else users.operator(db)).id
    hashed = _hasher.hash(new)
    with database.session() as db:
        user = users.entry(db, user_id)
        user.password_hash = hashed
        db.add(user)
        _end_everything(db, user.id)
        return user.name


def checked(password: str) -> str:
    """``password`` as it is hashed. Raises ``PasswordRefusedError`` where it may not be one."""
    password = _normal(password)
    if len(password) < MIN_CHARACTERS:
        raise PasswordRefusedError(
            400, "new", f"A password has at least {MIN_CHARACTERS} characters."
        )
    if len(password) > MAX_CHARACTERS:
        raise PasswordRefusedError(
            400, "new", f"A password has at most {MAX_CHARACTERS:,} characters."
        )
    return password


def _normal(password: str) -> str:
    """One spelling of what looks the same, since keyboards differ in how they write an é."""
    encodable = password.encode("utf-8", "replace").decode()
    return unicodedata.normalize("NFC", encodable)


def _matches(stored: str | None, password: str) -> bool:
    if stored is None or len(password) > MAX_CHARACTERS:
        _hasher.hash("as long as a check takes")
        return False
    try:
        return _hasher.verify(stored, _normal(password))
    except VerificationError:
        return False
    except InvalidHashError:
        _log.error(
            "the stored password hash cannot be read: set a new one with vitrine user password"
        )
        return False


def _replace(db: Session, user_id: str, old: str | None, new: str) -> bool:
    """Store ``new`` if ``old`` is still what is stored. Also locks the row, so that no login can
    begin with a password that is being changed.
    """
    row = tables.User
    same = col(row.password_hash).is_(None) if old is None else col(row.password_hash) == old
    result = db.execute(update(row).where(col(row.id) == user_id, same).values(password_hash=new))
    return cast(CursorResult[object], result).rowcount == 1


def _end_everything(db: Session, user_id: str) -> None:
    logins.end_all(db, user_id)
    links.revoke_all(db, user_id)
