import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import inspect, text
from sqlalchemy.exc import DBAPIError
from sqlmodel import SQLModel, select

from app.db import tables
from app.db.engine import Database
from app.db.migrate import alembic_config, has_model, newest, upgrade

ROOT = Path(__file__).resolve().parents[2]


def test_the_migrations_make_exactly_the_tables(database: Database) -> None:
    with database.engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "include_name": has_model}
        )
        assert compare_metadata(context, SQLModel.metadata) == []
        assert "sessions" in inspect(connection).get_table_names()


def test_upgrading_twice_changes_nothing(database: Database) -> None:
    upgrade(database.engine)
    with database.engine.connect() as connection:
        assert "alembic_version" in inspect(connection).get_table_names()


def test_the_newest_revision_is_alembics_own_head() -> None:
    assert newest() == ScriptDirectory.from_config(alembic_config()).get_current_head()


@pytest.fixture
def stamped(database: Database) -> Iterator[Callable[[str], None]]:
    """Writes another revision into the database; "" takes it away. Undone in the end."""

    def stamp(revision: str) -> None:
        with database.engine.begin() as connection:
            connection.execute(text("DELETE FROM alembic_version"))
            if revision:
                connection.execute(
                    text("INSERT INTO alembic_version VALUES (:revision)"), {"revision": revision}
                )

    yield stamp
    stamp(newest())


def test_a_database_that_is_not_at_the_newest_is_not_taken_for_it(
    database: Database, stamped: Callable[[str], None]
) -> None:
    stamped("")
    # Every table is there, so the first migration, which was not skipped, must fail.
    with pytest.raises(DBAPIError, match="already exists"):
        upgrade(database.engine)


def test_a_database_of_a_newer_version_is_refused(
    database: Database, stamped: Callable[[str], None]
) -> None:
    stamped("9999")
    with pytest.raises(CommandError, match="9999"):
        upgrade(database.engine)


def test_where_nothing_is_to_be_done_alembic_is_not_imported(
    migrated_sqlite: Path,
) -> None:
    script = (
        "import sys; from app.db.engine import Database; from app.db.migrate import upgrade; "
        f"upgrade(Database('sqlite:///{migrated_sqlite}').engine); "
        "sys.exit('alembic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0


def test_servers_keep_the_leave_that_their_addresses_say(database: Database) -> None:
    """Before 0006 every address was let in: those that say where they lead were meant so."""
    urls = {
        "http://127.0.0.1:8421/mcp": True,
        "http://LOCALHOST/mcp": True,
        "http://[::1]:9/mcp": True,
        "http://10.0.0.1/mcp": True,
        "http://nas.example/mcp": False,
        "https://93.184.216.34/mcp": False,
        "stdio:weather": False,
        "http://[broken": False,
    }
    with database.engine.begin() as connection:
        command.downgrade(alembic_config(connection), "0005")
        for url in urls:
            connection.execute(
                text(
                    "INSERT INTO servers (url, transport, allowed, unmarked_tools, created_at) "
                    "VALUES (:url, 'sse', :on, :on, '2026-12-01 00:00:00+00:00')"
                ),
                {"url": url, "on": False},
            )
    upgrade(database.engine)
    with database.session() as db:
        found = {row.url: row.private_confirmed for row in db.exec(select(tables.Server))}
    assert found == urls


def test_what_people_had_before_roles_stays_theirs(tmp_path: Path) -> None:
    """The one person of an older version is operator; their sign-in and link still open."""
    database = Database(f"sqlite:///{tmp_path / 'old.db'}")
    with database.engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0004")
    moment = "2026-12-01 00:00:00"
    with database.engine.begin() as connection:
        for statement in (
            f"INSERT INTO users VALUES ('u', 'operator', NULL, '{moment}')",
            "INSERT INTO login_sessions (id, token_hash, user_id, created_at, expires_at)"
            f" VALUES ('l', 'h', 'u', '{moment}', '{moment}')",
            f"INSERT INTO sign_in_links (token_hash, expires_at) VALUES ('t', '{moment}')",
            "INSERT INTO servers (url, transport, allowed, unmarked_tools, permissions, created_at)"
            f" VALUES ('https://a.example', 'sse', 1, 1, '[]', '{moment}')",
        ):
            connection.execute(text(statement))
    upgrade(database.engine)
    with database.session() as db:
        user = db.exec(select(tables.User)).one()
        assert (user.name, user.role) == ("operator", "operator")
        assert db.exec(select(tables.LoginSession)).one().user_id == user.id
        assert db.exec(select(tables.SignInLink)).one().user_id is None
        server = db.exec(select(tables.Server)).one()
        assert (server.allowed, server.viewers_may_call) == (True, False)
    database.dispose()
