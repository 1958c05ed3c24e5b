"""Who signs in. For now that is one person; whoever has no password yet comes by link."""

from typing import Final

from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, select

from app.db import tables
from app.db.engine import Database

OPERATOR: Final = "operator"


def find_operator(db: Session) -> tables.User | None:
    """None until somebody signed in or a password was set."""
    return db.exec(select(tables.User).where(tables.User.name == OPERATOR)).first()


def operator(db: Session) -> tables.User:
    """The operator, made when missing."""
    found = find_operator(db)
    if found is not None:
        return found
    user = tables.User(name=OPERATOR)
    try:
        with db.begin_nested():
            db.add(user)
    except IntegrityError:  # another process was first
        return db.exec(select(tables.User).where(tables.User.name == OPERATOR)).one()
    return user


def password_exists(database: Database) -> bool:
    """Whether there is a way in beside one-time links."""
    with database.session() as db:
        user = find_operator(db)
        return user is not None and user.password_hash is not None
