"""Inserting many rows at once, the fastest way that each database has."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, insert

from app.db.tables import UtcDateTime

Values = tuple[Any, ...]


def insert_rows(
    connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[Values]
) -> None:
    """Insert ``rows``, each with the values of ``columns``, in the caller's transaction. Times
    are UTC.
    """
    if not rows:
        return
    if connection.dialect.name == "postgresql":
        _copy(connection, table, columns, rows)
        return
    compiled = insert(table).compile(dialect=connection.dialect, column_keys=list(columns))
    if list(compiled.positiontup or ()) != list(columns):
        raise ValueError("columns must be in the table's order")
    connection.exec_driver_sql(str(compiled), _bound(connection, table, columns, rows))


def _copy(
    connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[Values]
) -> None:
    # A statement a row costs more than the rest of an import.
    quote = connection.dialect.identifier_preparer.quote
    names = ", ".join(quote(name) for name in columns)
    driver: Any = connection.connection.driver_connection
    with (
        driver.cursor() as cursor,
        cursor.copy(f"COPY {quote(table.name)} ({names}) FROM STDIN") as copy,
    ):
        for row in rows:
            copy.write_row(row)


def _moment(at: datetime | None) -> str | None:
    """As SQLAlchemy stores a time in SQLite, in a third of the time."""
    return at.isoformat(" ", "microseconds")[:26] if at is not None else None


def _bound(
    connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[Values]
) -> list[Values]:
    """The rows as the driver takes them: what the column types would do to each value."""
    bound = list(rows)
    for place, name in enumerate(columns):
        kind = table.c[name].type
        process: Callable[[Any], Any] | None
        if isinstance(kind, UtcDateTime):
            process = _moment
        else:
            impl = kind.dialect_impl(connection.dialect)
            process = impl.bind_processor(connection.dialect)
        if process is not None:
            bound = [(*row[:place], process(row[place]), *row[place + 1 :]) for row in bound]
    return bound
