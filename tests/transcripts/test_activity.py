"""Who works and who waits, by the agents' own files; what is left of a killed one counts not."""

import fcntl
import json
import os
from pathlib import Path
from typing import Any

import pytest

from app.transcripts.activity import Activity, claude_code, codex

SESSION = "4667a1b0-0339-421f-9db7-445698bbbe9f"
THREAD = "01a22f9a-aa12-7c33-aa3a-a5a7bc5e35d4"
CLAUDE = ("claude-code", SESSION)
CODEX = ("codex", THREAD)


def own_start() -> str:
    return Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]


def claude(home: Path, name: str = "1", **state: Any) -> None:
    """A state file as Claude Code 2.1.332 writes it; of this very process unless said otherwise."""
    whole = {"pid": os.getpid(), "sessionId": SESSION, "procStart": own_start(), "status": "busy"}
    folder = home / "sessions"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(whole | state))


@pytest.mark.parametrize(
    ("status", "activity"),
    [
        ("busy", Activity.WORKING),
        ("shell", Activity.WORKING),
        ("idle", Activity.WAITING),
        ("waiting", Activity.WAITING),
    ],
)
def test_claude_code_says_what_it_does(tmp_path: Path, status: str, activity: Activity) -> None:
    claude(tmp_path, status=status)
    assert claude_code(tmp_path) == {CLAUDE: activity}


def test_of_two_processes_on_one_session_the_one_that_works_counts(tmp_path: Path) -> None:
    claude(tmp_path, "1", status="busy")
    claude(tmp_path, "2", status="idle")
    assert claude_code(tmp_path) == {CLAUDE: Activity.WORKING}


@pytest.mark.parametrize(
    "state",
    [
        {"procStart": "1"},  # the number was given to another process meanwhile
        {"pid": 2**22 + 1},
        {"pid": 0},
        {"pid": True},
        {"pid": "1"},
        {"sessionId": 7},
        {"status": None},  # 2.1.122 to 2.1.266 without a terminal
        {"status": "something new"},
    ],
)
def test_what_cannot_be_relied_on_counts_not(tmp_path: Path, state: dict[str, Any]) -> None:
    claude(tmp_path, **state)
    assert claude_code(tmp_path) == {}


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000])
def test_a_file_that_is_no_state_counts_not(tmp_path: Path, text: str) -> None:
    claude(tmp_path)
    (tmp_path / "sessions" / "2.json").write_text(text)
    assert claude_code(tmp_path) == {CLAUDE: Activity.WORKING}


def test_without_any_state_nobody_works(tmp_path: Path) -> None:
    assert claude_code(tmp_path / "nowhere") == {}
    assert codex(tmp_path / "nowhere", lambda _: None) == {}


def event(kind: str) -> str:
    return json.dumps({"type": "event_msg", "payload": {"type": kind}}) + "\n"


def rollout(home: Path, *kinds: str) -> Path:
    path = home / "rollout.jsonl"
    path.write_text("".join(event(kind) for kind in kinds))
    (home / "thread-writer-locks").mkdir(exist_ok=True)
    (home / "thread-writer-locks" / f"{THREAD}.lock").touch()
    return path


@pytest.mark.parametrize(
    ("kinds", "activity"),
    [
        (["task_started"], Activity.WORKING),
        (["task_started", "item_completed"], Activity.WORKING),
        (["task_started", "task_complete"], Activity.WAITING),
        (["task_started", "turn_aborted"], Activity.WAITING),
        (["task_started", "task_complete", "task_started"], Activity.WORKING),
    ],
)
def test_codex_works_while_a_turn_is_open(
    tmp_path: Path, kinds: list[str], activity: Activity
) -> None:
    path = rollout(tmp_path, *kinds)
    with (tmp_path / "thread-writer-locks" / f"{THREAD}.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert codex(tmp_path, lambda _: path) == {CODEX: activity}
        assert codex(tmp_path, lambda _: None) == {}
    # Nobody holds it now: the agent has ended, however it did.
    assert codex(tmp_path, lambda _: path) == {}
