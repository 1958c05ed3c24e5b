"""API tokens: what a program shows instead of signing in. Good for ``/api/v1`` and nothing else."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, or_
from sqlmodel import Session, col, select
from starlette.requests import HTTPConnection
from starlette.types import Scope as AsgiScope

from app.db import tables
from app.db.tables import Role, Scope
from app.errors import NotFoundError, VitrineError
from app.text import storable
from app.web.auth.tokens import new_token, token_hash
from app.web.auth.users import Person

# So that one that was leaked is recognised, by people and by what looks for secrets.
PREFIX: Final = "vitrine_"
_FORM: Final = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")
# Those that a route asks for (a test compares): a token for what is not there yet would wait
# in somebody's configuration for the day on which it begins to mean something.
OFFERED: Final[dict[Scope, str]] = {Scope.READ: "Read sessions"}
MAX_NAME: Final = 64
MAX_DAYS: Final = 3650
_USED_EVERY: Final = timedelta(minutes=1)
_OF_ROLE: Final[dict[Role, frozenset[Scope]]] = {
    Role.OPERATOR: frozenset(Scope),
    Role.VIEWER: frozenset({Scope.READ}),
}


@dataclass(frozen=True, slots=True)
class Access:
    """What a request's token gives: the person it acts as, and what it may do of what that
    person may do now.
    """

    person: Person
    token_id: str
    scopes: frozenset[Scope]


@dataclass(frozen=True, slots=True)
class Listed:
    """``token`` never holds more than the hash; ``owner`` is a name."""

    token: tables.ApiToken
    owner: str

    @property
    def expired(self) -> bool:
        return self.token.expires_at is not None and self.token.expires_at <= tables.now()


def create(
    db: Session, person: Person, name: str, scopes: list[str], *, days: int | None
) -> tuple[str, tables.ApiToken]:
    """The token, which nobody can see again, and its row. ``days``: until it expires; None: never.

    Raises ``VitrineError`` for a name, scopes or days that no token can have.
    """
    name = storable(" ".join(name.split()))
    if not 1 <= len(name) <= MAX_NAME:
        raise VitrineError(400, f"A token needs a name, of at most {MAX_NAME} characters.")
    chosen = {scope for scope in Scope if scope.value in scopes}
    if not chosen or len(chosen) != len(set(scopes)) or not chosen <= OFFERED.keys():
        raise VitrineError(400, f"A token needs a scope, one of: {', '.join(OFFERED)}.")
    if not chosen <= _OF_ROLE[person.role]:
        raise VitrineError(403, f"{person.name} may not do that, so no token of theirs may.")
    if days is not None and not 1 <= days <= MAX_DAYS:
        raise VitrineError(400, f"A token ends after 1 to {MAX_DAYS} days, or never.")
    token = PREFIX + new_token()
    row = tables.ApiToken(
        token_hash=token_hash(token),
        name=name,
        scopes=sorted(chosen),
        user_id=person.id,
        expires_at=tables.now() + timedelta(days=days) if days is not None else None,
    )
    db.add(row)
    db.flush()
    return token, row


def listed(db: Session) -> list[Listed]:
    """Newest first, those that have expired too."""
    row, user = tables.ApiToken, tables.User
    found = db.exec(
        select(row, user.name)
        .join(user, col(user.id) == col(row.user_id))
        .order_by(col(row.created_at).desc(), col(row.id))
    )
    return [Listed(token, owner) for token, owner in found]


def revoke(db: Session, token_id: str) -> str:
    """The name of the token that is gone. Raises ``NotFoundError``."""
    row = db.get(tables.ApiToken, storable(token_id))
    if row is None:
        raise NotFoundError("There is no such token.")
    name = row.name
    db.execute(delete(tables.ApiToken).where(col(tables.ApiToken.id) == row.id))
    return name


def find(db: Session, token: str) -> Access | None:
    """What ``token`` opens, and None where it is none, has expired or was revoked."""
    if not _FORM.fullmatch(token):
        return None
    row, user, moment = tables.ApiToken, tables.User, tables.now()
    found = db.exec(
        select(row, user)
        .join(user, col(user.id) == col(row.user_id))
        .where(
            col(row.token_hash) == token_hash(token),
            or_(col(row.expires_at).is_(None), col(row.expires_at) > moment),
        )
    ).first()
    if found is None:
        return None
    _note_use(db, found[0], moment)
    person = Person.of(found[1])
    given = frozenset(scope for scope in Scope if scope.value in found[0].scopes)
    return Access(person, found[0].id, given & _OF_ROLE[person.role])


def _note_use(db: Session, row: tables.ApiToken, moment: datetime) -> None:
    # Not at every request: reading must not write.
    if row.used_at is None or row.used_at < moment - _USED_EVERY:
        row.used_at = moment
        db.add(row)


def access_of(scope: AsgiScope) -> Access | None:
    """What the request's token gives, where the gate of ``/api/v1`` let it in."""
    access = scope.get("state", {}).get("access")
    return access if isinstance(access, Access) else None


def access(connection: HTTPConnection) -> Access:
    """FastAPI dependency. Raises ``VitrineError`` 401 by itself too, so that a route stays closed
    without the gate.
    """
    found = access_of(connection.scope)
    if found is None:
        raise VitrineError(401, "This needs an API token: Authorization: Bearer vitrine_….")
    return found
