"""Signed-in browsers."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, func
from sqlmodel import Session, col, select

from app.db import tables
from app.web.auth import users
from app.web.auth.tokens import new_token, token_hash


@dataclass(frozen=True, slots=True)
class NewLogin:
    """``token`` goes into the cookie and nowhere else."""

    token: str
    login: tables.LoginSession


def begin(db: Session, *, days: int, replacing: str | None = None) -> NewLogin:
    """Sign the operator in for ``days`` days. ``replacing`` is the token that the browser held
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
        user_id=users.operator(db).id,
        expires_at=moment + timedelta(days=days),
    )
    db.add(login)
    return NewLogin(token, login)


def find(db: Session, token: str) -> tables.LoginSession | None:
    row = tables.LoginSession
    return db.exec(
        select(row).where(
            col(row.token_hash) == token_hash(token), col(row.expires_at) > tables.now()
        )
    ).first()


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
