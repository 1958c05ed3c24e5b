"""A prompt that follows an earlier line than the last one says where the conversation went back."""

from collections.abc import Callable
from pathlib import Path

import pytest

from app.db.engine import Database
from app.transcripts import branches, timeline
from app.transcripts.ingest import import_paths
from app.transcripts.timeline import Level
from tests.transcripts.making import assistant, load, picture, result, user
from tests.transcripts.making import call as tool_call

Write = Callable[..., Path]


def said(text: str, uuid: str, parent: str | None) -> bytes:
    return assistant({"type": "text", "text": text}, uuid=uuid, parentUuid=parent)


def asked(text: str, uuid: str, parent: str | None) -> bytes:
    return user(text, uuid=uuid, parentUuid=parent)


LINES = [
    asked("one", "u1", None),
    said("answer", "a1", "u1"),
    asked("two", "u2", "a1"),
    said("left behind", "a2", "u2"),
    asked("two again", "u3", "a1"),
    said("new answer", "a3", "u3"),
]


def back(database: Database, *paths: Path) -> list[tuple[str, str | None]]:
    session_id = load(database, *paths)
    with database.session() as db:
        rows = timeline.window(db, session_id, Level.VERBOSE, []).rows
    return [(row.text, row.goes_back_to) for row in rows if row.goes_back_to]


def test_a_prompt_sent_anew_names_what_it_follows(database: Database, write: Write) -> None:
    assert back(database, write(*LINES)) == [("two again", "0-1")]


def test_line_by_line_is_the_same(database: Database, write: Write) -> None:
    path = write(*LINES)
    import_paths(database, [path], source="once")
    for end in range(1, len(LINES) + 1):
        import_paths(database, [write(*LINES[:end])], source="by line")
    assert picture(database, "by line") == picture(database, "once")


@pytest.mark.parametrize(
    "lines",
    [
        LINES[:4],  # straight on
        [*LINES[:4], asked("fork", "u3", "gone")],  # a line that is not here
        [*LINES[:4], asked("fork", "u3", None)],  # a compaction's
        [*LINES[:4], said("late", "a3", "a1")],  # another process writes too
        [*LINES[:4], user("sub", uuid="u3", parentUuid="a1", isSidechain=True)],
        [
            asked("one", "u1", None),
            tool_call("c1"),
            tool_call("c2"),
            result("c1", uuid="r1", parentUuid="u1"),
        ],
        # What came between is the agent's own: nothing was left behind.
        [*LINES[:2], user("hook", uuid="m", parentUuid="a1", isMeta=True), asked("x", "u2", "a1")],
    ],
)
def test_what_leaves_nothing_behind_is_none(
    database: Database, write: Write, lines: list[bytes]
) -> None:
    assert back(database, write(*lines)) == []


def test_the_recorded_one(database: Database, recorded: Path) -> None:
    folder = recorded / "claude-2.1.332" / "parallel_othercwd_resume-session-at-branch"
    [(text, parent)] = back(database, folder)
    assert text.startswith("Prompt c-rsa")
    assert parent == "0-2"


def test_a_file_read_anew_has_its_own(database: Database, write: Write) -> None:
    load(database, write(*LINES))
    shorter = [asked("other", "u1", None), *LINES[1:4]]
    assert back(database, write(*shorter)) == []


def test_an_absurd_number_is_bounded(
    database: Database, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branches, "MAX_BRANCHES", 2)
    more = [asked(f"again {n}", f"b{n}", "a1") for n in range(5)]
    assert len(back(database, write(*LINES, *more))) == 2


def test_an_id_far_back_is_not_looked_for(
    database: Database, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branches, "SEARCH_BYTES", 0)
    assert back(database, write(*LINES)) == []
