"""Signed-in browsers, and whom a reverse proxy signs in."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, func
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col, select

from app.db import tables
from app.web.auth.tokens import new_token, token_hash
from app.web.auth.users import Person


@dataclass(frozen=True, slots=True)
class NewLogin:
    """``token`` goes into the cookie and nowhere else."""

    token: str
    login: tables.LoginSession


def begin(db: Session, user_id: str, *, days: int, replacing: str | None = None) -> NewLogin:
    """Sign that person in for ``days`` days. ``replacing`` is the token that the browser held
    before: it ends, so that a token known from earlier opens nothing now.
    """
    moment = tables.now()
    row = tables.LoginSession
    db.execute(delete(row).where(col(row.expires_at) < moment))
    if replacing is not None:
        end(db, replacing)
    token = new_token()
    login = row(
        token_hash=token_hash(token),
        user_id=user_id,
        expires_at=moment + timedelta(days=days),
    )
    db.add(login)
    return NewLogin(token, login)


def find(db: Session, token: str) -> tuple[tables.LoginSession, Person] | None:
    """The sign-in that a browser's token stands for, and who that is by now."""
    row, user = tables.LoginSession, tables.User
    found = db.exec(
        select(row, user)
        .join(user, col(user.id) == col(row.user_id))
        .where(col(row.token_hash) == token_hash(token), col(row.expires_at) > tables.now())
    ).first()
    return (found[0], Person.of(found[1])) if found else None


def of_proxy(db: Session, user_id: str, *, days: int) -> tuple[tables.LoginSession, bool]:
    """The sign-in of somebody whom the reverse proxy vouches for at every request: one for all
    their browsers, so that what is bound to a sign-in (tickets, streams) works without a cookie.
    And whether it begins, or begins anew, with this request.
    """
    row = tables.LoginSession
    # No token has this hash: it is no 64 hexadecimal digits, so no cookie can name it.
    key, moment = f"proxy:{user_id}", tables.now()
    found = db.exec(select(row).where(col(row.token_hash) == key)).first()
    if found is None:
        new = row(token_hash=key, user_id=user_id, expires_at=moment + timedelta(days=days))
        try:
            with db.begin_nested():
                db.add(new)
        except IntegrityError:  # another request was first
            found = db.exec(select(row).where(col(row.token_hash) == key)).one()
        else:
            return new, True
    # Not at every request: reading must not write.
    has_ended = found.expires_at < moment
    if found.expires_at < moment + timedelta(days=days) / 2:
        found.expires_at = moment + timedelta(days=days)
        db.add(found)
    return found, has_ended


def is_open(db: Session, login_id: str) -> bool:
    """Whether that sign-in has neither ended nor expired."""
    login = db.get(tables.LoginSession, login_id)
    return login is not None and login.expires_at > tables.now()


def end(db: Session, token: str) -> None:
    """Sign out: the token opens nothing from now on, nor do the tickets issued to it."""
    row = tables.LoginSession
    db.execute(delete(row).where(col(row.token_hash) == token_hash(token)))


def end_all(db: Session, user_id: str, *, but: str = "") -> None:
    """Sign a person out everywhere; ``but`` is the id of a login that stays."""
    row = tables.LoginSession
    db.execute(delete(row).where(col(row.user_id) == user_id, col(row.id) != but))


def count_others(db: Session, login: tables.LoginSession) -> int:
    """How many other browsers the same person is signed in with."""
    row = tables.LoginSession
    return db.exec(
        select(func.count())
        .select_from(row)
        .where(
            col(row.user_id) == login.user_id,
            col(row.id) != login.id,
            col(row.expires_at) > tables.now(),
        )
    ).one()
