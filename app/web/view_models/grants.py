"""What the views of a server may do, as the server's page shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from sqlmodel import Session

from app.db import tables
from app.mcp_apps import domains, grants
from app.mcp_apps.domains import Domains
from app.mcp_apps.grants import Calls
from app.text import one_line

CALLS: Final[Mapping[str, tuple[str, str]]] = {
    Calls.ALLOWED: (
        "Call its tools",
        "You are asked before a tool that the server marks as destructive.",
    ),
    Calls.ASK: (
        "Ask me before",
        "Only tools that the server marks as read-only are called without asking.",
    ),
    Calls.NONE: ("Call none", "Views still show what was recorded, and read resources."),
}
DOMAINS: Final[Mapping[str, tuple[str, str]]] = {
    Domains.ALL: ("All that a view declares", "As its server asks for them."),
    Domains.CHOSEN: ("Only chosen ones", "Of what a view declares, no more than you choose below."),
    Domains.NONE: ("None", "A view that loads scripts or data from elsewhere may stay blank."),
}
_LISTS: Final[Mapping[str, str]] = {
    "resourceDomains": "scripts, styles, images",
    "connectDomains": "connections",
    "frameDomains": "frames",
    "baseUriDomains": "base address",
}


@dataclass(frozen=True, slots=True)
class DomainsForm:
    """What was typed and refused, and why."""

    domains: str
    picked: Sequence[str]
    more: str
    error: str


@dataclass(frozen=True, slots=True)
class DeclaredView:
    """An origin that views declared: what for, and whether it is chosen."""

    origin: str
    what_for: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class GrantView:
    id: str
    tool: str
    view: str
    session_id: str
    session_title: str
    user: str
    given: str

    @classmethod
    def of(cls, listed: grants.Listed) -> Self:
        row = listed.grant
        return cls(
            id=row.id,
            tool=one_line(row.tool, 200),
            view=one_line(row.principal.removeprefix("view:"), 200),
            session_id=row.session_id,
            session_title=one_line(listed.session_title, 120) or "Untitled session",
            user=one_line(listed.user, 64),
            given=row.created_at.strftime("%d %b %Y, %H:%M UTC"),
        )


@dataclass(frozen=True, slots=True)
class ServerGrants:
    """``more`` are the chosen origins that nothing declared yet, one a line."""

    calls: str
    domains: str
    declared: Sequence[DeclaredView]
    more: str
    error: str
    given: Sequence[GrantView]

    @classmethod
    def of(cls, db: Session, server: tables.Server, typed: DomainsForm | None = None) -> Self:
        if server.id is None:
            raise ValueError("a server that is not stored has no page")
        found = domains.declared_so_far(db, server)
        origins = {one.origin for one in found}
        chosen = set(typed.picked if typed else server.chosen_domains)
        rest = sorted(set(server.chosen_domains) - origins)
        return cls(
            calls=server.calls,
            domains=typed.domains if typed else server.domains,
            declared=[
                DeclaredView(
                    one.origin,
                    "; ".join(_LISTS[name] for name in _LISTS if name in one.lists),
                    one.origin in chosen,
                )
                for one in found
            ],
            more=typed.more if typed else "\n".join(rest),
            error=typed.error if typed else "",
            given=[GrantView.of(listed) for listed in grants.of_server(db, server.id)],
        )

    @property
    def call_choices(self) -> Mapping[str, tuple[str, str]]:
        return CALLS

    @property
    def domain_choices(self) -> Mapping[str, tuple[str, str]]:
        return DOMAINS
