"""Who signs in, and as what. Whoever has no password yet comes by link."""

import re
from dataclasses import dataclass
from typing import Final, cast

from sqlalchemy import ColumnElement, CursorResult, delete, func, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col, select

from app.db import tables
from app.db.engine import Database
from app.db.tables import Role
from app.errors import NotFoundError, VitrineError
from app.text import one_line

OPERATOR: Final = "operator"  # the name of the first person
MAX_NAME: Final = 64
_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9._@+-]{0,62}[a-z0-9])?")
NAME_RULE: Final = (
    "A name has 1 to 64 letters (a to z), digits and . _ @ + - between them, as your identity "
    "provider writes it."
)
_LAST: Final = "Somebody must be operator. Make another person operator first."


@dataclass(frozen=True, slots=True)
class Person:
    """Who asks, as a request knows them: no hash of a password."""

    id: str
    name: str
    role: Role

    @classmethod
    def of(cls, user: tables.User) -> "Person":
        return cls(user.id, user.name, role_of(user))

    @property
    def is_operator(self) -> bool:
        return self.role is Role.OPERATOR


def role_of(user: tables.User) -> Role:
    """A role that this version does not know may do as little as the least."""
    return Role.OPERATOR if user.role == Role.OPERATOR else Role.VIEWER


def normal_name(name: str) -> str | None:
    """``name`` as it is stored, or None where nobody can be called that."""
    lower = name.strip().lower() if len(name) <= 2 * MAX_NAME else ""
    return lower if _NAME.fullmatch(lower) else None


def find(db: Session, name: str) -> tables.User | None:
    normal = normal_name(name)
    if normal is None:
        return None
    return db.exec(select(tables.User).where(tables.User.name == normal)).first()


def named(db: Session, name: str) -> tables.User:
    """The person of that name; "operator" is made when nobody is operator yet. Raises
    ``NotFoundError``.
    """
    found = find(db, name)
    if found is None and normal_name(name) == OPERATOR and find_operator(db) is None:
        found = operator(db)
    if found is None:
        raise NotFoundError(f"Nobody here is called {one_line(name, MAX_NAME)}.")
    return found


def entry(db: Session, user_id: str) -> tables.User:
    """Raises ``NotFoundError``."""
    user = db.get(tables.User, user_id) if user_id.isascii() and user_id.isalnum() else None
    if user is None:
        raise NotFoundError("There is no such person.")
    return user


def everybody(db: Session) -> list[tables.User]:
    """By name."""
    return list(db.exec(select(tables.User).order_by(col(tables.User.name))))


def find_operator(db: Session) -> tables.User | None:
    """Whom the machine's own commands and links mean: "operator", or else who has been operator
    for the longest time. None until somebody signed in or a password was set.
    """
    row = tables.User
    return db.exec(
        select(row)
        .where(col(row.role) == Role.OPERATOR)
        .order_by(col(row.name) != OPERATOR, col(row.created_at), col(row.id))
    ).first()


def operator(db: Session) -> tables.User:
    """The same; made when missing."""
    found = find_operator(db)
    if found is not None:
        return found
    user = tables.User(name=OPERATOR, role=Role.OPERATOR)
    try:
        with db.begin_nested():
            db.add(user)
    except IntegrityError:  # another process was first
        return db.exec(select(tables.User).where(tables.User.name == OPERATOR)).one()
    return user


def add(db: Session, name: str, role: Role) -> tables.User:
    """Raises ``VitrineError`` for a name that nobody can have, or that somebody has."""
    normal = normal_name(name)
    if normal is None:
        raise VitrineError(400, NAME_RULE)
    user = tables.User(name=normal, role=role)
    try:
        with db.begin_nested():
            db.add(user)
    except IntegrityError:
        raise VitrineError(409, f"There is somebody called {normal} already.") from None
    return user


def set_role(db: Session, user: tables.User, role: Role) -> None:
    """Raises ``VitrineError`` 409 where nobody would be left as operator."""
    row = tables.User
    change = update(row).where(col(row.id) == user.id).values(role=role)
    if role is not Role.OPERATOR and role_of(user) is Role.OPERATOR:
        change = change.where(_others_operate(db, user.id))
    if cast(CursorResult[object], db.execute(change)).rowcount == 0:
        raise VitrineError(409, _LAST)


def remove(db: Session, user: tables.User) -> None:
    """With their sign-ins, links and tokens. Raises as ``set_role``."""
    row = tables.User
    gone = delete(row).where(col(row.id) == user.id)
    if role_of(user) is Role.OPERATOR:
        gone = gone.where(_others_operate(db, user.id))
    if cast(CursorResult[object], db.execute(gone)).rowcount == 0:
        raise VitrineError(409, _LAST)


def _others_operate(db: Session, user_id: str) -> ColumnElement[bool]:
    """A condition for the statement itself: of two operators who remove each other at once, one
    must fail. The rows are locked first, since PostgreSQL looks at them as they were otherwise;
    SQLite lets one write at a time.
    """
    row = tables.User
    operators = col(row.role) == Role.OPERATOR
    db.exec(select(row.id).where(operators).order_by(col(row.id)).with_for_update()).all()
    others = select(row.id).where(operators, col(row.id) != user_id)
    return others.correlate(None).exists()


def password_exists(database: Database) -> bool:
    """Whether there is a way in beside one-time links."""
    return bool(names_with_password(database))


def names_with_password(database: Database) -> list[str]:
    """At most two: whether the sign-in page must ask for a name is all that it says of them."""
    row = tables.User
    with database.session() as db:
        return list(
            db.exec(select(row.name).where(col(row.password_hash).is_not(None)).limit(2)).all()
        )


def count_logins(db: Session) -> dict[str, int]:
    """How many browsers each person is signed in with, by the person's id."""
    row = tables.LoginSession
    rows = db.exec(
        select(row.user_id, func.count())
        .where(col(row.expires_at) > tables.now())
        .group_by(col(row.user_id))
    )
    return dict(rows.all())
