"""What an error of the database says."""

import pytest
from sqlalchemy.exc import DBAPIError, StatementError

from app.db import tables
from app.db.engine import Database


def test_an_error_repeats_no_parameters(database: Database) -> None:
    """A server's address may hold a key."""
    with pytest.raises((DBAPIError, StatementError)) as caught, database.session() as db:
        db.add(tables.ServerName(name="sentinel-key", server_id=0))
    assert "parameters hidden" in str(caught.value)
    assert "sentinel-key" not in str(caught.value)
