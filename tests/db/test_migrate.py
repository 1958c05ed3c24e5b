from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text
from sqlmodel import SQLModel, select

from app.db.engine import Database
from app.db.migrate import alembic_config, has_model, upgrade
from app.db.tables import Server


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
        found = {row.url: row.private_confirmed for row in db.exec(select(Server))}
    assert found == urls
