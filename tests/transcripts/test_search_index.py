"""The index holds what the transcripts hold, however it came there, and nothing else."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from app.db import tables
from app.db.engine import Database
from app.transcripts import files, search_index, search_upkeep
from app.transcripts.formats import by_agent, detect
from app.transcripts.ingest import import_paths
from app.transcripts.search_index import Texts
from tests.transcripts.conftest import Write
from tests.transcripts.indexed import indexed
from tests.transcripts.making import RECORDED, assistant, call, result, user

# Of the texts of these recordings, by the rule that `search_index.VERSION` numbers.
_TEXTS = {1: "8ed48f0ddccc"}
_OF = ("claude-2.1.332/three-real-apps", "claude-2.1.332/subagent", "codex-0.171.0")


def test_the_rule_has_a_new_number_when_texts_change() -> None:
    """What was put in by an older rule cannot be taken out by this one. When this fails because
    entries have other texts now: raise `VERSION`, and put the new hash here.
    """
    told = sha256()
    for path in sorted(path for name in _OF for path in (RECORDED / name).rglob("*.jsonl")):
        data = path.read_bytes()
        fmt = detect(path, data)
        assert fmt is not None
        texts, seq = Texts(fmt), 0
        for line in filter(None, data.split(b"\n")):
            items = fmt.index(line).items
            texts.line(line, seq, items)
            seq += len(items)
        told.update(repr((path.name, seq, texts._texts)).encode("utf-8", "replace"))
    assert {search_index.VERSION: told.hexdigest()[:12]} == _TEXTS


def test_a_line_without_entries_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    fmt, parsed = by_agent("claude-code"), list[bytes]()
    decode = fmt.decode

    def noted(line: bytes) -> Mapping[str, Any]:
        parsed.append(line)
        return decode(line)

    monkeypatch.setattr(fmt, "decode", noted)
    texts = Texts(fmt)
    for line in (b'{"type":"mode","sessionId":"s"}', user("said")):
        texts.line(line, 0, fmt.index(line).items)
    assert parsed == [user("said")]
    assert texts._texts == {0: "said"}


def test_again_changes_nothing(database: Database, recorded: Path) -> None:
    import_paths(database, [recorded])
    before = indexed(database)
    assert len(before) > 100
    import_paths(database, [recorded])
    assert indexed(database) == before


def test_filled_in_later_it_is_the_same(database: Database, recorded: Path) -> None:
    import_paths(database, [recorded])
    before = indexed(database)
    with database.session() as db:
        search_index.start_anew(db.connection())
    assert indexed(database) == {}
    seen: list[tuple[int, int]] = []
    assert search_upkeep.fill_index(database, lambda *step: seen.append(step)) == len(seen) > 20
    assert indexed(database) == before
    assert search_upkeep.fill_index(database) == 0


def test_an_older_rule_is_replaced(database: Database, write: Write) -> None:
    import_paths(database, [write(user("one"))])
    with database.session() as db:
        db.exec(select(tables.Transcript)).one().indexed_as = search_index.VERSION + 1
    search_upkeep.fill_index(database)
    assert list(indexed(database).values()) == ["one"]


def test_what_is_not_filled_in_yet_waits_whole(database: Database, write: Write) -> None:
    path = write(user("one"))
    import_paths(database, [path])
    with database.session() as db:
        search_index.start_anew(db.connection())
    write(user("one"), user("two"))
    import_paths(database, [path])
    assert indexed(database) == {}
    search_upkeep.fill_index(database)
    assert list(indexed(database).values()) == ["one", "two"]


def test_a_replaced_file_leaves_nothing_behind(
    database: Database, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_BLOCK_BYTES", 300)
    path = write(user("first words"), call("t1", note="of old"), result("t1", "text"), user("x"))
    import_paths(database, [path])
    write(user("new"))
    import_paths(database, [path])
    assert indexed(database) == {(str(path), 0): "new"}


def test_a_result_that_stands_for_its_call_is_taken_out_as_it_was_put_in(
    database: Database, recorded: Path, tmp_path: Path
) -> None:
    copies = []
    for path in recorded.glob("codex-*/**/*.jsonl"):
        copy = tmp_path / path.name
        copy.write_bytes(path.read_bytes())
        copies.append(copy)
    import_paths(database, copies)
    assert indexed(database)
    for copy in copies:
        copy.write_bytes(copy.read_bytes().split(b"\n", 1)[0] + b"\n")
    summary = import_paths(database, copies)
    assert summary.files_replaced == len(copies)
    assert indexed(database) == {}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("nul\0in it", "nul in it"),
        ("lone \ud800 half", "lone half"),
        ("line\u2028break", "line break"),
        ("x" * 3_000, None),
        (" ".join(f"w{number}" for number in range(100_000)), None),
        ("字" * 100_000, None),
        (" ".join(chr(0x10400 + number % 80) for number in range(90_000)), None),
    ],
)
def test_no_text_is_an_error(
    database: Database, write: Write, content: Any, words: str | None
) -> None:
    path = write(user("begun"), assistant({"type": "text", "text": content}))
    assert import_paths(database, [path]).entries_new == 2
    if words is not None:
        assert indexed(database)[str(path), 1] == words
