"""The engine and sessions: synchronous, used from the thread pool, on SQLite and PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event, make_url
from sqlmodel import Session, create_engine


def _sqlite_pragmas(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    # WAL lets readers go on beside the one writer; NORMAL is safe with it.
    for pragma in (
        "journal_mode=WAL",
        "synchronous=NORMAL",
        "busy_timeout=30000",  # ms: patience, not an error, while another process writes
        "foreign_keys=ON",
        "wal_autocheckpoint=4000",  # pages: an import would write most of them twice
        "secure_delete=ON",  # what a person deletes is gone from the file, not only unlisted
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def make_engine(url: str) -> Engine:
    """An engine for ``url`` (``sqlite:///…`` or ``postgresql+psycopg://…``).

    Errors name no values: those may be a server's address with a key in it.
    Raises ``ValueError`` for another kind of database: every query is tested on these two only.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        if parsed.database:
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        engine = create_engine(url, connect_args={"check_same_thread": False}, hide_parameters=True)
        event.listen(engine, "connect", _sqlite_pragmas)
        return engine
    if parsed.drivername == "postgresql+psycopg":
        return create_engine(
            url, pool_size=10, max_overflow=20, pool_pre_ping=True, hide_parameters=True
        )
    raise ValueError("VITRINE_DATABASE_URL must begin with sqlite:/// or postgresql+psycopg://")


class Database:
    """One engine; hands out short sessions. Never hold one across network input or output."""

    def __init__(self, url: str) -> None:
        self.engine = make_engine(url)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A session whose block commits when it ends well and rolls back when it does not."""
        with Session(self.engine, expire_on_commit=False) as session, session.begin():
            yield session

    def dispose(self) -> None:
        self.engine.dispose()
