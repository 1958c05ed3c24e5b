"""Brings a database to the newest schema. Safe to call from several processes at once."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, text

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


def alembic_config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(migrations_folder()))
    config.attributes["connection"] = connection
    return config


def upgrade(engine: Engine) -> None:
    """Apply every migration that the database has not seen."""
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            # Held until the transaction ends, so a second process waits and then finds no work.
            connection.execute(text("SELECT pg_advisory_xact_lock(:id)"), {"id": _LOCK_ID})
        else:
            connection.execute(text("BEGIN IMMEDIATE"))
        command.upgrade(alembic_config(connection), "head")
