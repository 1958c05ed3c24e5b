"""What the watched folders bring, told to open pages: new rows, and whether an agent works."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from sqlmodel import col, select
from starlette.concurrency import run_in_threadpool

from app.db import tables
from app.db.engine import Database
from app.transcripts import activity
from app.transcripts.activity import Activity, Key
from app.transcripts.changes import Change
from app.transcripts.watch import SOURCE
from app.web.live.streams import Streams

LOOK_SECONDS: Final = 2.0
ENDED: Final = "ended"
_RESTART_SECONDS: Final = 5.0
_log = logging.getLogger(__name__)


class News:
    """Sends ``rows`` (a session has grown) and ``activity`` (its agent works, waits, has ended) to
    every stream. ``activities`` is by Vitrine's own session id; who is not in it has ended.
    """

    def __init__(self, database: Database, streams: Streams, folders: Iterable[Path]) -> None:
        self._database = database
        self._streams = streams
        self._homes = tuple({folder.resolve().parent: None for folder in folders})
        self.activities: Mapping[str, Activity] = {}

    def changed(self, change: Change) -> None:
        """A watcher's ``on_change``."""
        self._streams.broadcast(
            "rows",
            {
                "session": change.session_id,
                "new": change.is_new,
                "rewritten": change.rewritten,
                "calls": [{"id": call.tool_call_id, "at": call.address} for call in change.settled],
            },
        )

    async def look(self) -> None:
        """Looks at the agents' own state files, over and over; ends only when it is cancelled."""
        while True:
            self._tell(await run_in_threadpool(self._activities))
            await asyncio.sleep(LOOK_SECONDS)

    def _tell(self, now: Mapping[str, Activity]) -> None:
        before, self.activities = self.activities, now
        for session_id in before.keys() | now.keys():
            state = now.get(session_id)
            if state != before.get(session_id):
                self._streams.broadcast(
                    "activity", {"session": session_id, "state": state.value if state else ENDED}
                )

    def _activities(self) -> dict[str, Activity]:
        found: dict[Key, Activity] = {}
        for home in self._homes:
            found |= activity.claude_code(home)
            found |= activity.codex(home, self._rollout_of)
        return self._by_session(found)

    def _by_session(self, found: Mapping[Key, Activity]) -> dict[str, Activity]:
        if not found:
            return {}
        row = tables.Session
        with self._database.session() as db:
            rows = db.exec(
                select(row.id, row.agent, row.external_id).where(
                    row.source == SOURCE, col(row.external_id).in_({key[1] for key in found})
                )
            )
            return {
                session_id: found[agent, external_id]
                for session_id, agent, external_id in rows
                if (agent, external_id) in found
            }

    def _rollout_of(self, thread: str) -> Path | None:
        row = tables.Transcript
        with self._database.session() as db:
            path = db.exec(
                select(row.path)
                .join(tables.Session, col(tables.Session.id) == col(row.session_id))
                .where(
                    tables.Session.source == SOURCE,
                    tables.Session.agent == "codex",
                    tables.Session.external_id == thread,
                    row.number == 0,
                )
            ).first()
        return Path(path) if path is not None else None


async def keep_running(what: str, run: Callable[[], Awaitable[None]]) -> None:
    """Runs ``run`` again whenever it fails: a page that is not told of news is told of it in the
    log. Ends only when it is cancelled.
    """
    while True:
        try:
            await run()
        except Exception:  # noqa: BLE001 - logged; what it does must go on
            _log.exception("%s failed, and begins again", what)
        await asyncio.sleep(_RESTART_SECONDS)
