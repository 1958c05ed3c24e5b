"""Fixtures for all tests: a migrated, empty database of each kind that Vitrine supports."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import make_url, text
from sqlmodel import SQLModel

from app.db.engine import Database, make_engine
from app.db.migrate import upgrade

# What Starlette's test client sends; a test of hosts sets its own.
os.environ.setdefault("VITRINE_ALLOWED_HOSTS", "testserver")
POSTGRES_URL = os.environ.get("VITRINE_TEST_POSTGRES_URL", "")
BACKENDS = ["sqlite", "postgresql"] if POSTGRES_URL else ["sqlite"]


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file at the newest schema, to copy: migrating anew takes longer than most tests."""
    path = tmp_path_factory.mktemp("migrated") / "vitrine.db"
    database = Database(f"sqlite:///{path}")
    upgrade(database.engine)
    database.dispose()
    return path


@pytest.fixture(scope="session")
def migrated_postgres() -> Iterator[str]:
    """The URL of a PostgreSQL database at the newest schema, made for this run."""
    name = f"vitrine_test_{uuid4().hex[:12]}"
    admin = make_engine(POSTGRES_URL).execution_options(isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}"'))
        # Nobody needs these rows after a crash: waiting for the disk is most of the time.
        connection.execute(text(f'ALTER DATABASE "{name}" SET synchronous_commit = off'))
    url = make_url(POSTGRES_URL).set(database=name).render_as_string(hide_password=False)
    database = Database(url)
    upgrade(database.engine)
    database.dispose()
    try:
        yield url
    finally:
        with admin.connect() as connection:
            connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
        admin.dispose()


def _emptied(database: Database) -> Database:
    ours = [table.name for table in reversed(SQLModel.metadata.sorted_tables)]
    with database.engine.begin() as connection:
        # A connection that an earlier test left open would hold the locks for ever.
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
        there = connection.scalars(
            text("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        )
        without_model = [name for name in there if name not in {*ours, "alembic_version"}]
        # Not TRUNCATE: on a slow disk that takes half a second, and there are hundreds of tests.
        for name in (*without_model, *ours):
            connection.execute(text(f'DELETE FROM "{name}"'))
        connection.execute(
            text(
                "SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, 1, false) "
                "FROM pg_sequences WHERE schemaname = current_schema()"
            )
        )
    return database


@pytest.fixture(params=BACKENDS)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty database at the newest schema; PostgreSQL too where CI names a server."""
    if request.param == "postgresql":
        database = _emptied(Database(request.getfixturevalue("migrated_postgres")))
    else:
        path = tmp_path / "vitrine.db"
        shutil.copy(request.getfixturevalue("migrated_sqlite"), path)
        database = Database(f"sqlite:///{path}")
    yield database
    database.dispose()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"
