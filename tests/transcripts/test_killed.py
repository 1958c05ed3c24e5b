"""An import killed with SIGKILL, again and again, while its file grows."""

import os
import random
import signal
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from app.db.engine import Database
from app.transcripts import files
from app.transcripts.ingest import import_paths
from tests.transcripts.indexed import indexed
from tests.transcripts.making import assistant, call, picture, result, user

KILLS = 50


def _whole(rng: random.Random) -> bytes:
    lines = [user("begin")]
    for number in range(400):
        lines.append(call(f"t{number}", note=f"word{number}"))
        lines.append(result(f"t{number}", "text " * rng.randrange(60)))
        if number % 9 == 0:
            lines.append(assistant({"type": "text", "text": f"said{number}"}))
    return b"\n".join(lines) + b"\n"


def _in_child(work: Callable[[], None]) -> int:
    """The signal that ended a process that did ``work``, 0 for none."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def _import_until(url: str, path: Path, step: int) -> None:
    """Import, and be killed before the ``step``-th thing that is said to the database."""
    database = Database(url)
    steps = count()

    def die(*_: Any) -> None:
        if next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(database.engine, "before_cursor_execute", die)
    event.listen(database.engine, "commit", die)
    import_paths(database, [path])


def test_nothing_is_lost_or_doubled(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_BLOCK_BYTES", 4_000)
    rng = random.Random(5)
    whole = _whole(rng)
    path = tmp_path / "11111111-2222-4333-8444-555555555555.jsonl"
    url = database.engine.url.render_as_string(hide_password=False)
    kills = 0
    # Some imports have nothing left to say by the time they would be killed.
    for end in sorted(rng.randrange(100, len(whole)) for _ in range(2 * KILLS)):
        if kills == KILLS:
            break
        path.write_bytes(whole[:end])
        step = rng.randrange(8, 40)
        kills += _in_child(lambda: _import_until(url, path, step)) == signal.SIGKILL  # noqa: B023
    assert kills == KILLS
    path.write_bytes(whole)
    import_paths(database, [path])
    import_paths(database, [path], source="clean")
    assert picture(database) == picture(database, "clean")
    words = indexed(database)
    assert words == indexed(database, "clean")
    assert len(words) > 800
