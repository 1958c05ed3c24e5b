"""Which of the domains that a resource declares its server's views are granted.

The declaration is a ceiling that the server sets itself; the operator's choice is one below it.
Neither widens the other.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from sqlmodel import Session, col, select

from app.db import tables
from app.errors import VitrineError
from app.mcp_apps import csp

MOST_CHOSEN: Final = csp.MAX_ENTRIES
_MOST_COPIES: Final = 200
_MOST_DECLARED: Final = 100


class Domains(StrEnum):
    ALL = "all"
    CHOSEN = "chosen"
    NONE = "none"


def ceiling(server: tables.Server) -> Callable[[str], Sequence[str]]:
    """From a declared origin to what of it the operator lets through: itself, the chosen origins
    that it covers, or nothing.
    """
    if server.domains == Domains.ALL:
        return lambda origin: [origin]
    chosen = server.chosen_domains if server.domains == Domains.CHOSEN else []
    return lambda origin: _both(origin, chosen)


def _both(origin: str, chosen: Collection[str]) -> list[str]:
    if any(_covers(one, origin) for one in chosen):
        return [origin]
    return [one for one in chosen if _covers(origin, one)]


def _covers(wide: str, narrow: str) -> bool:
    """Whether ``wide`` is ``narrow``, or a wildcard of the same scheme and port above it."""
    if wide == narrow:
        return True
    scheme, _, place = wide.partition("://")
    narrow_scheme, _, narrow_place = narrow.partition("://")
    if scheme != narrow_scheme or not place.startswith("*."):
        return False
    host, _, port = place.removeprefix("*.").partition(":")
    narrow_host, _, narrow_port = narrow_place.partition(":")
    return port == narrow_port and narrow_host.endswith(f".{host}")


def checked(entries: Collection[str], *, private_hosts: bool) -> list[str]:
    """``entries`` as origins, each once. Raises ``VitrineError`` 400 naming the first that is
    none: what no resource could be granted by declaring it cannot be chosen either.
    """
    origins: list[str] = []
    for entry in entries:
        origin, why = csp.judged(entry, private_hosts=private_hosts)
        if origin is None:
            raise VitrineError(400, f"“{entry[:200]}” cannot be granted: {why}.")
        if origin not in origins:
            origins.append(origin)
    if len(origins) > MOST_CHOSEN:
        raise VitrineError(400, f"At most {MOST_CHOSEN} origins can be chosen.")
    return sorted(origins)


def choose(db: Session, server: tables.Server, domains: Domains, origins: Sequence[str]) -> None:
    """``origins`` are kept whatever ``domains`` says, for when it says ``chosen`` again."""
    server.domains = domains
    server.chosen_domains = list(origins)
    db.add(server)
    db.flush()


@dataclass(slots=True)
class Declared:
    """An origin that views of a server declared, and in which lists."""

    origin: str
    lists: set[str] = field(default_factory=set)


def declared_so_far(db: Session, server: tables.Server) -> list[Declared]:
    """What the documents that were read of this server declare and could be granted, by origin."""
    copy = tables.FragmentCopy
    rows = db.exec(
        select(copy.declared)
        .where(copy.url == server.url)
        .order_by(col(copy.read_at).desc())
        .limit(_MOST_COPIES)
    )
    found: dict[str, Declared] = {}
    for declared in rows:
        told = declared.get("csp") if isinstance(declared, Mapping) else None
        policy = csp.build(told, private_hosts=server.private_confirmed)
        for list_name, origins in policy.granted.items():
            for origin in origins:
                found.setdefault(origin, Declared(origin)).lists.add(list_name)
    return sorted(found.values(), key=lambda one: one.origin)[:_MOST_DECLARED]
