"""What a search found."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

from app.text import one_line
from app.transcripts.formats.base import RESULT_KINDS, Kind
from app.transcripts.scan import Level
from app.transcripts.search import Found, Hit
from app.transcripts.search_query import SearchQuery
from app.transcripts.session_list import SessionPage, SessionRow
from app.transcripts.snippet import Snippet
from app.web.view_models.search_form import SearchForm
from app.web.view_models.sessions import SessionItem, agent_label, counted, session_title

_NAMED: Final = 5  # sessions found by their names that are shown before the entries
_WHAT: Final = {
    Kind.USER: "Prompt",
    Kind.ASSISTANT: "Answer",
    Kind.THINKING: "Thinking",
    Kind.TOOL_CALL: "Call",
    Kind.SYSTEM: "System entry",
    Kind.ERROR: "Error",
}
NOTHING_ASKED: Final = (
    "Type at least one word to look for. A query of excluded words finds nothing."
)


@dataclass(frozen=True, slots=True)
class HitView:
    session_id: str
    address: str
    level: str  # empty for the default one
    what: str
    tool: str
    at: datetime | None
    snippet: Snippet

    @classmethod
    def of(cls, hit: Hit) -> Self:
        return cls(
            session_id=hit.session.id,
            address=hit.address,
            level="" if hit.level is Level.CONDENSED else hit.level.value,
            what="Result" if hit.kind in RESULT_KINDS else _WHAT.get(hit.kind, "Entry"),
            tool=one_line(hit.called.name, 120) if hit.called else "",
            at=hit.at,
            snippet=hit.snippet,
        )


@dataclass(frozen=True, slots=True)
class HitGroup:
    """The hits of one session, one after the other."""

    session_id: str
    title: str
    agent: str
    folder: str
    hits: list[HitView]


def _groups(hits: Iterable[Hit]) -> list[HitGroup]:
    groups: list[HitGroup] = []
    for hit in hits:
        if not groups or groups[-1].session_id != hit.session.id:
            session = hit.session
            groups.append(
                HitGroup(
                    session_id=session.id,
                    title=session_title(session),
                    agent=agent_label(session.agent),
                    folder=one_line(session.folder, 300),
                    hits=[],
                )
            )
        groups[-1].hits.append(HitView.of(hit))
    return groups


def _count(found: Found) -> str:
    if found.total is not None:
        return counted(found.total, "entry", "entries")
    return "Many entries" if found.after else ""


@dataclass(frozen=True, slots=True)
class SearchPage:
    """``named``: sessions found by title or folder, on the first page. ``hint`` says why nothing
    was looked for.
    """

    form: SearchForm
    named: list[SessionItem]
    named_more: str
    groups: list[HitGroup]
    count: str
    after: str | None
    first: bool
    hint: str

    @classmethod
    def of(cls, form: SearchForm, named: SessionPage, found: Found, *, first: bool) -> Self:
        more = named.total > _NAMED
        return cls(
            form=form,
            named=[SessionItem.of(row) for row in named.rows[:_NAMED]] if first else [],
            named_more=counted(named.total, "session", "sessions") if more and first else "",
            groups=_groups(found.hits),
            count=_count(found),
            after=found.after,
            first=first,
            hint="" if SearchQuery.of(form.asked.q) else NOTHING_ASKED,
        )

    def query(self, **more: str | None) -> dict[str, str | None]:
        return {**self.form.asked.query, **more}


@dataclass(frozen=True, slots=True)
class SessionSearchPage:
    form: SearchForm
    session_id: str
    title: str
    groups: list[HitGroup]
    count: str
    after: str | None
    hint: str

    @classmethod
    def of(cls, form: SearchForm, session: SessionRow, found: Found) -> Self:
        asked = form.asked
        return cls(
            form=form,
            session_id=session.id,
            title=session_title(session),
            groups=_groups(found.hits),
            count=_count(found),
            after=found.after,
            hint=NOTHING_ASKED if asked.q and not SearchQuery.of(asked.q) else "",
        )

    def query(self, **more: str | None) -> dict[str, str | None]:
        return {**self.form.asked.query, **more}
