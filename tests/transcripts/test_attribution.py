"""Names that Claude Code records after the call: they belong to the calls of that name before."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlmodel import col, select

from app.db import tables
from app.db.engine import Database
from app.mcp.names import normalise
from app.transcripts.formats.claude_code_index import normalised
from app.transcripts.ingest import import_paths
from tests.transcripts.making import assistant, call, load, result

Write = Callable[..., Path]
DOTTED = "mcp__my_server_v2__dotted_name"


def names(database: Database) -> list[tuple[str, str | None, str | None]]:
    query = select(tables.ToolCall).order_by(col(tables.ToolCall.call_seq))
    with database.session() as db:
        return [(row.tool_call_id, row.server, row.tool) for row in db.exec(query)]


def after(server: object = "my server.v2", tool: object = "dotted.name") -> bytes:
    text = {"type": "text", "text": "done"}
    return assistant(text, attributionMcpServer=server, attributionMcpTool=tool)


@pytest.mark.parametrize("batches", ["one", "each line"])
def test_the_calls_before_get_the_names(database: Database, write: Write, batches: str) -> None:
    lines = [
        call("a", DOTTED),
        call("b", "mcp__other__x"),
        result("a"),
        result("b"),
        after(),
        call("c", DOTTED),
    ]
    if batches == "one":
        load(database, write(*lines))
    else:
        for end in range(1, len(lines) + 1):
            import_paths(database, [write(*lines[:end])])
    assert names(database) == [
        ("a", "my server.v2", "dotted.name"),
        ("b", None, None),
        ("c", None, None),  # nothing has said yet what this one was of
    ]


@pytest.mark.parametrize(
    ("server", "tool"),
    [("other", "x"), ("", "dotted.name"), ("my server.v2", None), (5, "dotted.name")],
)
def test_names_that_are_not_this_call_s_are_not_taken(
    database: Database, write: Write, server: object, tool: object
) -> None:
    load(database, write(call("a", DOTTED), result("a"), after(server, tool)))
    assert names(database) == [("a", None, None)]


def test_the_first_names_stay(database: Database, write: Write) -> None:
    """Two names that are written alike: the later one is another call's."""
    load(
        database,
        write(call("a", DOTTED), after(), call("b", DOTTED), after("my.server v2", "dotted name")),
    )
    assert names(database) == [
        ("a", "my server.v2", "dotted.name"),
        ("b", "my.server v2", "dotted name"),
    ]


@pytest.mark.parametrize("name", ["a.b c", "my-srv_1", "ä", "", "x" * 90])
def test_both_halves_write_a_name_alike(name: str) -> None:
    assert normalised(name) == normalise(name)
