"""Rows that are written whether or not they are there, whoever else writes meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event
from sqlmodel import select

from app.db import tables
from app.db.engine import Database
from app.db.upsert import insert_once, upsert
from app.mcp import copies
from app.mcp.tool_index import parse_tools
from app.mcp_apps import documents

KEY = ("http://a.example/mcp", "f" * 64)


def setting(value: str) -> dict[str, str]:
    return {"key": "k", "value": value}


def stored(database: Database) -> list[str]:
    with database.session() as db:
        return list(db.exec(select(tables.Setting.value)))


def test_the_newest_takes_the_place_of_the_one_before(database: Database) -> None:
    for value in ("one", "two"):
        with database.session() as db:
            upsert(db, tables.Setting, setting(value), ["key"])
    assert stored(database) == ["two"]


def test_the_first_stays(database: Database) -> None:
    for value in ("one", "two"):
        with database.session() as db:
            insert_once(db, tables.Setting, setting(value), ["key"])
    assert stored(database) == ["one"]


@contextmanager
def somebody_writes_after_each_read(database: Database) -> Iterator[None]:
    """Another process, as fast as can be."""
    other = Database(database.engine.url.render_as_string(hide_password=False))

    def write(_conn: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if statement.lstrip().upper().startswith("SELECT"):
            with other.session() as db:
                upsert(db, tables.Setting, setting(statement[:20]), ["key"])

    event.listen(database.engine, "after_cursor_execute", write)
    yield
    event.remove(database.engine, "after_cursor_execute", write)
    other.dispose()


@pytest.mark.parametrize("times", [1, 2])
def test_what_is_kept_of_a_server_is_kept_whoever_else_writes(
    database: Database, times: int
) -> None:
    index = parse_tools([{"name": "a", "inputSchema": {"type": "object"}}])
    with somebody_writes_after_each_read(database):
        for _ in range(times):
            with database.session() as db:
                copies.save_tools(db, KEY, index)
            with database.session() as db:
                digest = documents.store(db, "<p>a view</p>")
    with database.session() as db:
        copy = copies.load_tools(db, KEY)
        assert copy is not None
        assert list(copy.index.tools) == ["a"]
        assert documents.load(db, digest) == "<p>a view</p>"
