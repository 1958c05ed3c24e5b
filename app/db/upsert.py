"""Writing a row whether or not it is there: one statement, so that no reading comes before it.

On SQLite a transaction that has read may not write any more once somebody else wrote in between:
it fails at once, whatever the busy timeout.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session, SQLModel


def upsert(
    db: Session, table: type[SQLModel], values: Mapping[str, Any], key: Sequence[str]
) -> None:
    """Insert ``values``, or put them in the place of the row with the same ``key`` columns."""
    insert = _insert(db)(table).values(**values)
    changed = {name: insert.excluded[name] for name in values if name not in key}
    db.execute(insert.on_conflict_do_update(index_elements=list(key), set_=changed))


def insert_once(
    db: Session, table: type[SQLModel], values: Mapping[str, Any], key: Sequence[str]
) -> None:
    """Insert ``values`` unless there is a row with the same ``key`` columns."""
    insert = _insert(db)(table).values(**values)
    db.execute(insert.on_conflict_do_nothing(index_elements=list(key)))


def _insert(db: Session) -> Any:
    is_postgres = db.get_bind().dialect.name == "postgresql"
    return postgresql.insert if is_postgres else sqlite.insert
