"""The list of sessions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

from app.text import one_line
from app.transcripts.timeline import SessionPage, SessionRow
from app.web.asked import Asked
from app.web.view_models.search_form import SearchForm

AGENTS: Final = {"claude-code": "Claude Code", "codex": "Codex"}


def agent_label(agent: str) -> str:
    return AGENTS.get(agent, one_line(agent, 40))


def session_title(row: SessionRow) -> str:
    return one_line(" ".join(row.title.split()), 160) or "Untitled session"


@dataclass(frozen=True, slots=True)
class SessionItem:
    id: str
    title: str
    agent: str
    folder: str
    updated_at: datetime
    entries: str
    calls: str

    @classmethod
    def of(cls, row: SessionRow) -> Self:
        return cls(
            id=row.id,
            title=session_title(row),
            agent=agent_label(row.agent),
            folder=one_line(row.folder, 300),
            updated_at=row.updated_at,
            entries=counted(row.entry_count, "entry", "entries"),
            calls=counted(row.call_count, "tool call", "tool calls"),
        )


@dataclass(frozen=True, slots=True)
class SessionsPage:
    """``filtered``: an empty list then means that nothing matched, not that nothing is there.
    ``project`` is the folder whose sessions, all of them, are listed.
    """

    form: SearchForm
    items: list[SessionItem]
    page: int
    pages: int
    total: str
    project: str
    notice: str

    @classmethod
    def of(cls, form: SearchForm, found: SessionPage, *, notice: str = "") -> Self:
        folder = form.asked.folder
        return cls(
            form=form,
            items=[SessionItem.of(row) for row in found.rows],
            page=found.page,
            pages=found.pages,
            total=counted(found.total, "session", "sessions"),
            project=folder if Asked(folder=folder) == form.asked else "",
            notice=notice,
        )

    @property
    def filtered(self) -> bool:
        return bool(self.form.asked.q) or self.form.asked.filtered

    def at_page(self, page: int) -> dict[str, str | int | None]:
        """The query of this list's page ``page``."""
        return {
            **self.form.asked.query,
            "in": "titles" if self.form.asked.q else None,
            "page": page if page > 1 else None,
        }


def counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
