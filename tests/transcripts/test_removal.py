"""Deleting: what is gone, what stays, and that no import brings it back by itself."""

from pathlib import Path

import pytest
from sqlalchemy import func, select, text
from sqlmodel import SQLModel

from app.db import tables
from app.db.engine import Database
from app.errors import NotFoundError
from app.transcripts import removal, search_upkeep, timeline
from app.transcripts.ingest import DELETED, import_paths
from tests.transcripts.conftest import Write
from tests.transcripts.indexed import indexed
from tests.transcripts.making import SESSION_ID, call, load, picture, result, user

OTHER = "99999999-2222-4333-8444-555555555555.jsonl"


def _rows(database: Database) -> dict[str, int]:
    with database.session() as db:
        return {
            name: db.execute(select(func.count()).select_from(table)).scalar_one()
            for name, table in SQLModel.metadata.tables.items()
        }


def _session(write: Write) -> list[Path]:
    return [
        write(user("find the zebrafish"), call("t1", note="zebrafish"), result("t1", "zebrafish")),
        write(user("zebrafish", agentId="a1"), name=f"{SESSION_ID}/subagents/agent-a1.jsonl"),
    ]


def test_a_session_is_gone_everywhere(database: Database, write: Write) -> None:
    empty = _rows(database)
    session_id = load(database, *_session(write))
    with database.session() as db:
        db.add(
            tables.ViewMessage(
                session_id=session_id,
                tool_call_id="t1",
                address="0-1",
                server="s",
                tool="t",
                kind="message",
                text="x",
                taint="view:s/t",
            )
        )
    removal.delete_session(database, session_id)
    after = _rows(database)
    assert after.pop("deleted_transcripts") > 0
    assert after == {name: count for name, count in empty.items() if name in after}
    assert indexed(database) == {}


def test_whatever_belongs_to_a_session_goes_with_it() -> None:
    owners = {"sessions", "transcripts"}
    for table in SQLModel.metadata.sorted_tables:
        for key in table.foreign_keys:
            if key.column.table.name in owners:
                assert key.ondelete == "CASCADE", f"{table.name}.{key.parent.name}"


def test_the_others_stay(database: Database, write: Write) -> None:
    kept = write(user("keep"), call("t1"), result("t1"), name=OTHER)
    import_paths(database, [kept])
    before, words = picture(database), indexed(database)
    import_paths(database, _session(write))
    with database.session() as db:
        (gone,) = [row for row in timeline.sessions(db).rows if row.external_id == SESSION_ID]
    removal.delete_session(database, gone.id)
    assert picture(database) == before
    assert indexed(database) == words


# PostgreSQL's own vacuum does it there, in a file that is not ours to read.
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_its_words_leave_the_file(database: Database, write: Write) -> None:
    keep = [user(f"keep {number}") for number in range(50)]
    import_paths(database, [write(*keep, name=OTHER)])
    import_paths(database, _session(write))
    path = Path(str(database.engine.url.database))

    def holds() -> bool:
        with database.engine.connect() as connection:
            connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
        return b"zebrafish" in path.read_bytes()

    assert holds()
    with database.session() as db:
        (gone,) = [row for row in timeline.sessions(db).rows if row.external_id == SESSION_ID]
    removal.delete_session(database, gone.id)
    search_upkeep.merge(database)
    assert not holds()


def test_an_import_does_not_bring_it_back_unasked(database: Database, write: Write) -> None:
    paths = _session(write)
    removal.delete_session(database, load(database, *paths))
    late = write(user("late", agentId="a2"), name=f"{SESSION_ID}/subagents/agent-a2.jsonl")
    summary = import_paths(database, [*paths, late])
    assert [why for _, why in summary.files_skipped] == [DELETED] * 3
    assert picture(database) == {}
    again = import_paths(database, [*paths, late], again=True)
    assert (again.sessions_new, again.files_skipped) == (1, [])
    # Asked for once, it is like any other from then on.
    assert import_paths(database, paths).files_skipped == []


def test_only_a_hash_of_its_place_is_kept(database: Database, write: Write) -> None:
    paths = _session(write)
    removal.delete_session(database, load(database, *paths))
    with database.session() as db:
        kept = db.execute(select(tables.DeletedTranscript.__table__)).all()  # type: ignore[attr-defined]
    assert str(paths[0].parent) not in repr(kept)


def test_a_project_is_all_sessions_of_a_folder(database: Database, write: Write) -> None:
    import_paths(database, _session(write))
    import_paths(database, [write(user("more"), name=OTHER)])
    import_paths(database, [write(user("else", cwd="/home/dev/other"), name=f"8{OTHER[1:]}")])
    assert removal.delete_project(database, "/home/dev/project") == 2
    with database.session() as db:
        assert [row.folder for row in timeline.sessions(db).rows] == ["/home/dev/other"]
    assert list(indexed(database).values()) == ["else"]


def test_there_is_no_such_session(database: Database) -> None:
    with pytest.raises(NotFoundError):
        removal.delete_session(database, "0" * 32)
    assert removal.delete_project(database, "/nowhere") == 0
