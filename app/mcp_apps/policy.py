"""The two switches: views at all, and the servers named to render them. Both off at first.

The second is the one that holds: rendering a view runs its author's JavaScript in the tab of
whoever reads the session, so a server that nobody named renders nothing.
"""

import json
import logging
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session, select

from app.db import tables
from app.db.engine import Database

_RENDER_KEY = "mcp_apps.render"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Policy:
    """``render``: the master switch. ``allowed_urls``: servers whose views may run."""

    render: bool
    allowed_urls: frozenset[str]

    def allows(self, server: tables.Server) -> bool:
        """Trust is the URL's: a name in a repository's configuration cannot borrow it."""
        return self.render and server.url in self.allowed_urls


OFF = Policy(render=False, allowed_urls=frozenset())


def load(db: Session) -> Policy:
    """The switches as stored. Settings that cannot be read mean off, not an error page."""
    try:
        # A savepoint: PostgreSQL refuses every later query of a transaction that failed.
        with db.begin_nested():
            row = db.get(tables.Setting, _RENDER_KEY)
            render = row is not None and json.loads(row.value) is True
            urls = db.exec(select(tables.Server.url).where(tables.Server.allowed)).all()
    except (SQLAlchemyError, ValueError):
        _log.exception("the MCP Apps settings cannot be read; views are off")
        return OFF
    return Policy(render, frozenset(urls) if render else frozenset())


def permits(database: Database, url: str) -> bool:
    """Whether the server at ``url`` may be contacted now: asked where a connection is made, so
    that no path around the panels' own check leads out.
    """
    with database.session() as db:
        return url in load(db).allowed_urls


def set_render(db: Session, render: bool) -> None:
    row = db.get(tables.Setting, _RENDER_KEY) or tables.Setting(key=_RENDER_KEY, value="")
    row.value = json.dumps(render)
    db.add(row)
