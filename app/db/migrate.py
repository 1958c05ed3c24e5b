"""Brings a database to the newest schema. Safe to call from several processes at once."""

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect, text

# Alembic is imported where it is used: every command comes by here, and most find nothing to do.
if TYPE_CHECKING:
    from alembic.config import Config

# Any constant will do; it only has to be Vitrine's own within one PostgreSQL database.
_LOCK_ID = 8420_0001

# The full text index has no model: each database has a kind of table of its own for it.
_SEARCH_INDEX = "search_index"


def has_model(name: str | None, kind: str, _parents: object) -> bool:
    """For Alembic's comparison: whether a table (``kind``) should be one of the models'."""
    return not (kind == "table" and name is not None and name.startswith(_SEARCH_INDEX))


def migrations_folder() -> Path:
    """``app/_migrations`` in an installed wheel, ``migrations/`` in a checkout."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_migrations", package.parent / "migrations"):
        if (folder / "env.py").is_file():
            return folder
    raise FileNotFoundError("the migrations folder is missing from this installation")


def newest() -> str:
    """The revision that the code knows as the newest: the number that its file begins with."""
    files = (migrations_folder() / "versions").glob("[0-9]*_*.py")
    return max(file.name for file in files).partition("_")[0]


def alembic_config(connection: Connection | None = None) -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations_folder()))
    config.attributes["connection"] = connection
    return config


def upgrade(engine: Engine) -> None:
    """Apply every migration that the database has not seen."""
    if _is_newest(engine):
        return
    from alembic import command

    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            # Held until the transaction ends, so a second process waits and then finds no work.
            connection.execute(text("SELECT pg_advisory_xact_lock(:id)"), {"id": _LOCK_ID})
        else:
            connection.execute(text("BEGIN IMMEDIATE"))
        command.upgrade(alembic_config(connection), "head")


def _is_newest(engine: Engine) -> bool:
    with engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return False
        seen = connection.scalars(text("SELECT version_num FROM alembic_version")).all()
    return list(seen) == [newest()]
