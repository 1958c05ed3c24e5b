"""Alembic's entry: runs on the connection that ``app.db.migrate`` or the Makefile hands over."""

from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlmodel import AutoString, SQLModel

from app.db.engine import make_engine
from app.db.migrate import has_model
from app.db.tables import UtcDateTime
from app.settings import Settings


def render_item(kind: str, item: Any, _context: AutogenContext) -> str | Literal[False]:
    """Migrations outlive the code: they name plain SQLAlchemy types, never the app's own."""
    if kind == "type" and isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    if kind == "type" and isinstance(item, AutoString):
        return f"sa.String(length={item.length})"
    return False


connection = context.config.attributes.get("connection")
if connection is None:
    connection = make_engine(Settings().effective_database_url).connect()

context.configure(
    connection=connection,
    target_metadata=SQLModel.metadata,
    render_as_batch=connection.dialect.name == "sqlite",
    compare_type=True,
    render_item=render_item,
    include_name=has_model,
)
with context.begin_transaction():
    context.run_migrations()
