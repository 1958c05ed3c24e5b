"""Settings → People and Settings → API tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

from app.db import tables
from app.db.tables import Role, Scope
from app.text import one_line
from app.web.auth import users
from app.web.auth.api_tokens import OFFERED, Listed
from app.web.auth.users import Person
from app.web.view_models.sessions import counted

ROLES: Final[Mapping[Role, str]] = {
    Role.VIEWER: "Viewer",
    Role.OPERATOR: "Operator",
}
# Days until a token ends; "" is never.
LIFETIMES: Final[Mapping[str, str]] = {
    "30": "in 30 days",
    "90": "in 90 days",
    "365": "in a year",
    "": "never",
}


@dataclass(frozen=True, slots=True)
class PersonView:
    id: str
    name: str
    role: Role
    you: bool
    signed_in: str
    way_in: str

    @classmethod
    def of(cls, user: tables.User, me: Person, logins: int) -> Self:
        browsers = counted(logins, "sign-in", "sign-ins") if logins else "not signed in"
        return cls(
            id=user.id,
            name=user.name,
            role=users.role_of(user),
            you=user.id == me.id,
            signed_in=browsers,
            way_in="has a password" if user.password_hash else "no password yet",
        )

    @property
    def other_role(self) -> Role:
        return Role.VIEWER if self.role is Role.OPERATOR else Role.OPERATOR


@dataclass(frozen=True, slots=True)
class PeoplePage:
    """``link`` is a one-time link, shown this once, for the person called ``link_for``. ``name``
    and ``role`` are what the form holds: what was typed, when it was refused.
    """

    people: Sequence[PersonView]
    notice: str = ""
    error: str = ""
    name: str = ""
    role: str = Role.VIEWER
    link: str = ""
    link_for: str = ""

    @property
    def roles(self) -> Mapping[Role, str]:
        return ROLES


@dataclass(frozen=True, slots=True)
class TokenView:
    id: str
    name: str
    owner: str
    scopes: str
    created_at: datetime
    used_at: datetime | None
    expires_at: datetime | None
    expired: bool

    @classmethod
    def of(cls, listed: Listed) -> Self:
        token = listed.token
        return cls(
            id=token.id,
            name=one_line(token.name, 64),
            owner=listed.owner,
            scopes=", ".join(token.scopes),
            created_at=token.created_at,
            used_at=token.used_at,
            expires_at=token.expires_at,
            expired=listed.expired,
        )


@dataclass(frozen=True, slots=True)
class TokensPage:
    """``token`` is a new one, shown this once. ``name``, ``chosen`` and ``days`` are what the form
    holds.
    """

    tokens: Sequence[TokenView]
    notice: str = ""
    error: str = ""
    name: str = ""
    chosen: Sequence[str] = tuple(OFFERED)
    days: str = "90"
    token: str = ""
    token_name: str = ""

    @property
    def scopes(self) -> Mapping[Scope, str]:
        return OFFERED

    @property
    def lifetimes(self) -> Mapping[str, str]:
        return LIFETIMES
