"""Agents' folders, read as they are written."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlmodel import select

from app.db import tables
from app.db.engine import Database
from app.transcripts import watch as module
from app.transcripts.changes import Change
from app.transcripts.chunks import decompress
from app.transcripts.ingest import import_paths
from app.transcripts.left_out import LeftOut, recorded_folder
from app.transcripts.redaction import SECRETS, Redactor
from app.transcripts.watch import Watcher
from tests.transcripts.making import assistant, call, result, user

SECRET = "ghp_" + "a1B2" * 9


class Seen:
    """The changes that a watcher told, to be waited for."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._news = asyncio.Event()

    def __call__(self, change: Change) -> None:
        self.changes.append(change)
        self._news.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not condition():
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def watching(
    database: Database, folder: Path, seen: Seen, **options: object
) -> AsyncIterator[Watcher]:
    watcher = Watcher(database, [folder], seen, **options)  # type: ignore[arg-type]
    task = asyncio.create_task(watcher.run())
    try:
        yield watcher
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def sessions(database: Database) -> list[tables.Session]:
    with database.session() as db:
        return list(db.exec(select(tables.Session)))


def append(path: Path, *lines: bytes, torn: bytes = b"") -> None:
    with path.open("ab") as file:
        file.write(b"".join(line + b"\n" for line in lines) + torn)


@pytest.fixture
def seen() -> Seen:
    return Seen()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "projects" / "-home-dev-project"
    made.mkdir(parents=True)
    return made


def one(folder: Path) -> Path:
    return folder / "11111111-2222-4333-8444-555555555555.jsonl"


async def test_what_lies_there_is_read_the_newest_first(
    database: Database, folder: Path, seen: Seen
) -> None:
    for number in range(3):
        path = folder / f"{number}.jsonl"
        append(path, user(f"prompt {number}", sessionId=f"s{number}"))
        # Not in the order of their names.
        os.utime(path, ns=(0, [20, 30, 10][number] * 10**9))
    async with watching(database, folder, seen):
        await seen.until(lambda: len(seen.changes) == 3)
    by_id = {session.id: session.title for session in sessions(database)}
    assert [by_id[change.session_id] for change in seen.changes] == [
        "prompt 1",
        "prompt 0",
        "prompt 2",
    ]
    assert all(change.is_new for change in seen.changes)


async def test_a_new_session_and_its_new_lines_are_read(
    database: Database, folder: Path, seen: Seen
) -> None:
    async with watching(database, folder.parent, seen):
        append(one(folder), user("hello"), call("toolu_1"))
        await seen.until(lambda: bool(seen.changes))
        append(one(folder), assistant({"type": "text", "text": "wait"}))
        await seen.until(lambda: sessions(database)[0].entry_count == 3)
        append(one(folder), result("toolu_1"))
        await seen.until(lambda: sessions(database)[0].entry_count == 4)
    (session,) = sessions(database)
    assert {change.session_id for change in seen.changes} == {session.id}
    assert [change.is_new for change in seen.changes] == [True, False, False]
    # The call that was pending is told of, with its own address.
    assert [[(call.tool_call_id, call.address) for call in c.settled] for c in seen.changes] == [
        [],
        [],
        [("toolu_1", "0-1")],
    ]


async def test_a_torn_line_waits_for_its_end(database: Database, folder: Path, seen: Seen) -> None:
    whole = user("the end")
    async with watching(database, folder, seen):
        append(one(folder), user("hello"), torn=whole[:30])
        await seen.until(lambda: bool(seen.changes))
        assert sessions(database)[0].entry_count == 1
        append(one(folder), whole[30:])
        await seen.until(lambda: sessions(database)[0].entry_count == 2)


async def test_a_file_that_begins_anew_is_said_to_be_rewritten(
    database: Database, folder: Path, seen: Seen
) -> None:
    append(one(folder), user("one"), user("two"), user("three"))
    async with watching(database, folder, seen):
        await seen.until(lambda: bool(seen.changes))
        shutil.copy(one(folder), folder / "copy")
        one(folder).write_bytes(user("anew") + b"\n")
        await seen.until(lambda: seen.changes[-1].rewritten)
    assert [session.entry_count for session in sessions(database)] == [1]


async def test_a_folder_that_comes_later_is_waited_for(
    database: Database, tmp_path: Path, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MISSING_SECONDS", 0.05)
    later = tmp_path / "later"
    async with watching(database, later, seen):
        await asyncio.sleep(0.2)
        later.mkdir()
        append(one(later), user("hello"))
        await seen.until(lambda: bool(seen.changes))


async def test_what_the_system_did_not_tell_of_is_found(
    database: Database, folder: Path, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = asyncio.Event()

    async def silent(*_paths: Path, **_options: object) -> AsyncIterator[set[object]]:
        told.set()
        await asyncio.Event().wait()
        yield set()

    monkeypatch.setattr(module, "awatch", silent)
    async with watching(database, folder, seen, rescan_seconds=0.1):
        await told.wait()
        append(one(folder), user("hello"))
        await seen.until(lambda: bool(seen.changes))


async def test_a_file_that_cannot_be_read_keeps_no_other_from_it(
    database: Database,
    folder: Path,
    seen: Seen,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def stumbling(used: Database, paths: list[Path], *rest: object, **options: object) -> object:
        if paths[0].name == "0bad.jsonl":
            raise ZeroDivisionError
        return import_paths(used, paths, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "import_paths", stumbling)
    append(folder / "0bad.jsonl", user("bad"))
    append(one(folder), user("good"))
    async with watching(database, folder, seen):
        await seen.until(lambda: bool(seen.changes))
        # Both are written again, the bad one first.
        append(folder / "0bad.jsonl", user("bad"))
        append(one(folder), user("better"))
        await seen.until(lambda: len(seen.changes) == 2)
    assert "0bad.jsonl" in caplog.text
    assert [session.title for session in sessions(database)] == ["good"]


@pytest.mark.parametrize("pattern", ["/home/dev/*", "/home/dev", "*/project", "*-home-dev-*"])
async def test_a_project_that_is_left_out_is_not_read(
    database: Database, folder: Path, seen: Seen, pattern: str
) -> None:
    append(one(folder), user("secret plans"))
    append(folder / "other.jsonl", user("open", cwd="/srv/open", sessionId="other"))
    other_name = folder.parent / "open"
    other_name.mkdir()
    shutil.move(folder / "other.jsonl", other_name / "other.jsonl")
    async with watching(database, folder.parent, seen, left_out=LeftOut([pattern])):
        await seen.until(lambda: bool(seen.changes))
        append(one(folder), user("more plans"))
        append(other_name / "other.jsonl", user("more", cwd="/srv/open", sessionId="other"))
        await seen.until(lambda: len(seen.changes) == 2)
    assert [session.title for session in sessions(database)] == ["open"]


async def test_while_the_folder_is_not_known_nothing_is_read(
    database: Database, folder: Path, seen: Seen
) -> None:
    """Codex and Claude Code name it in one of the first lines, which may not be there yet."""
    nameless = b'{"type":"queue-operation","sessionId":"x","operation":"enqueue"}'
    append(one(folder), nameless)
    assert recorded_folder(one(folder)) is None
    assert LeftOut(["/nowhere/*"]).holds_back(one(folder))
    assert not LeftOut().holds_back(one(folder))
    append(one(folder), user("hello", cwd="/srv/open"))
    assert recorded_folder(one(folder)) == "/srv/open"
    assert not LeftOut(["/nowhere/*"]).holds_back(one(folder))


async def test_secrets_are_hidden_before_anything_is_stored(
    database: Database, folder: Path, seen: Seen
) -> None:
    redact = Redactor(SECRETS)
    append(one(folder), user(f"my key is {SECRET}"))
    async with watching(database, folder, seen, redact=redact):
        await seen.until(lambda: bool(seen.changes))
        append(one(folder), user(f"once more: {SECRET}"), user("end"))
        await seen.until(lambda: sessions(database)[0].entry_count == 3)
    # No change was taken for a rewrite: what is compared is hidden too.
    assert not any(change.rewritten for change in seen.changes)
    with database.session() as db:
        chunks = [decompress(row.data, row.size) for row in db.exec(select(tables.Chunk))]
        title = db.exec(select(tables.Session.title)).one()
    assert SECRET.encode() not in b"".join(chunks)
    assert b"once more: ****" in b"".join(chunks)
    assert title == "my key is " + "*" * len(SECRET)
