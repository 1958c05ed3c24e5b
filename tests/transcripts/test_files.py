"""Which files are read, and which are skipped with a sentence."""

import os
from pathlib import Path
from typing import Any

import pytest

from app.db.engine import Database
from app.transcripts import files, ingest
from app.transcripts.ingest import import_paths
from tests.transcripts.conftest import Write
from tests.transcripts.making import (
    picture,
    user,
)


def _skipped(database: Database, *paths: Path) -> list[tuple[str, str]]:
    return [(Path(path).name, why) for path, why in import_paths(database, paths).files_skipped]


def test_what_is_no_transcript_is_skipped_with_a_sentence(
    database: Database, write: Write, tmp_path: Path
) -> None:
    good = write(user("one"))
    folder = good.parent
    (folder / "empty.jsonl").touch()
    (folder / "torn.jsonl").write_bytes(user("one"))
    (folder / "codex.jsonl").write_bytes(b'{"type":"session_meta","payload":{}}\n')
    (folder / "notes.txt").write_bytes(b"not looked at")
    os.mkfifo(folder / "pipe.jsonl")
    # The files come as they were written, the newest first.
    assert sorted(_skipped(database, folder, tmp_path / "missing")) == [
        ("codex.jsonl", ingest.NOT_A_TRANSCRIPT),
        ("empty.jsonl", ingest.NO_LINE_YET),
        ("missing", "There is no such file or folder."),
        ("pipe.jsonl", ingest.NOT_A_FILE),
        ("torn.jsonl", ingest.NO_LINE_YET),
    ]
    assert list(picture(database)) == [str(good)]


def test_a_name_that_is_not_utf8(database: Database, write: Write) -> None:
    folder = write(user("one")).parent
    Path(os.fsdecode(bytes(folder) + b"/\xff\x1b[2J.jsonl")).write_bytes(user("two") + b"\n")
    ((path, why),) = import_paths(database, [folder]).files_skipped
    assert why == "Its name is not valid UTF-8."
    path.encode()
    assert "\x1b" not in path


def test_links_that_leave_the_folder_are_not_followed(
    database: Database, write: Write, tmp_path: Path
) -> None:
    inside = write(user("inside"))
    folder = inside.parent
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.jsonl").write_bytes(user("secret") + b"\n")
    (folder / "file.jsonl").symlink_to(outside / "secret.jsonl")
    (folder / "linked").symlink_to(outside, target_is_directory=True)
    (folder / "same.jsonl").symlink_to(inside)
    assert _skipped(database, folder) == [("file.jsonl", "It is a link that leaves the folder.")]
    assert list(picture(database)) == [str(inside)]


def test_a_link_put_there_after_the_walk_is_not_followed(
    database: Database, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(user("inside"))
    secret = tmp_path / "secret.jsonl"
    secret.write_bytes(user("secret") + b"\n")
    walk = files.find

    def swap(paths: Any) -> files.Found:
        found = walk(paths)
        path.unlink()
        path.symlink_to(secret)
        return found

    monkeypatch.setattr(ingest, "find", swap)
    ((_, why),) = import_paths(database, [path.parent]).files_skipped
    assert why.startswith("It cannot be read:")
    assert picture(database) == {}
