"""What a person asked a list or a search for, as the address holds it. No value is refused: one
that makes no sense filters nothing, so that an old link still opens.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Final

from fastapi import Depends, Query
from sqlmodel import Session

from app.mcp.hub import Hub
from app.mcp_apps.view_names import view_names, written
from app.transcripts.search_filters import Filters
from app.transcripts.search_query import MAX_LENGTH

_MAX_NAME: Final = 300
_MAX_FOLDER: Final = 4_096


@dataclass(frozen=True, slots=True)
class Asked:
    q: str = ""
    agent: str = ""
    folder: str = ""
    server: str = ""
    tool: str = ""
    view: bool = False
    error: bool = False
    since: date | None = None
    until: date | None = None

    @property
    def filtered(self) -> bool:
        """Whether anything but words was asked for."""
        return self != Asked(q=self.q)

    @property
    def narrowed(self) -> bool:
        """Whether a filter that is folded away is set."""
        return self != Asked(q=self.q, agent=self.agent)

    @property
    def query(self) -> Mapping[str, str]:
        """For an address; values that are not set are empty."""
        return {
            "q": self.q,
            "agent": self.agent,
            "folder": self.folder,
            "server": self.server,
            "tool": self.tool,
            "view": "on" if self.view else "",
            "error": "on" if self.error else "",
            "from": self.since.isoformat() if self.since else "",
            "to": self.until.isoformat() if self.until else "",
        }

    def filters(self, db: Session, hub: Hub) -> Filters:
        return Filters(
            agent=self.agent,
            folder=self.folder,
            server=written(self.server),
            tool=self.tool,
            view=self.view,
            view_names=view_names(db, hub) if self.view else frozenset(),
            error=self.error,
            since=self.since,
            until=self.until,
        )


def _day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if 1970 <= day.year < 9000 else None


def _read(
    q: str = "",
    agent: str = "",
    folder: str = "",
    server: str = "",
    tool: str = "",
    view: str = "",
    error: str = "",
    since: Annotated[str, Query(alias="from")] = "",
    until: Annotated[str, Query(alias="to")] = "",
) -> Asked:
    return Asked(
        q=q[:MAX_LENGTH].strip(),
        agent=agent[:_MAX_NAME],
        folder=folder[:_MAX_FOLDER],
        server=server[:_MAX_NAME].strip(),
        tool=tool[:_MAX_NAME].strip(),
        view=view == "on",
        error=error == "on",
        since=_day(since),
        until=_day(until),
    )


AskedFor = Annotated[Asked, Depends(_read)]
