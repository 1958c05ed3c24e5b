from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect
from sqlmodel import SQLModel

from app.db.engine import Database
from app.db.migrate import has_model, upgrade


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
