"""Whether an agent works, waits or has ended, from the files that the agents keep themselves.

Claude Code writes ``sessions/<pid>.json`` beside its ``projects`` folder and removes it at its
end; after a kill it stays, so the process is looked at too. Codex locks
``thread-writer-locks/<thread>.lock`` beside its ``sessions`` folder while a thread is open, and
its rollout says whether a turn is under way. (Seen with Claude Code 2.1.332 and Codex 0.171.)
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

_MAX_STATE_BYTES: Final = 64 * 1024
_MAX_FILES: Final = 500
_TAIL_BYTES: Final = 256 * 1024
_TURN: Final = re.compile(rb'"type":\s*"(task_started|task_complete|turn_aborted)"')
_LOCK: Final = re.compile(
    r"^\d+: FLOCK\s+\S+\s+\S+\s+\d+\s+[0-9a-f]+:[0-9a-f]+:(\d+)\s", re.MULTILINE
)
_CLAUDE_WORKING: Final = frozenset({"busy", "shell"})
_CLAUDE_WAITING: Final = frozenset({"idle", "waiting"})


class Activity(StrEnum):
    WORKING = "working"
    WAITING = "waiting"  # open, and it is the person's turn


Key = tuple[str, str]  # agent, the agent's own id of the session
PathOf = Callable[[str], Path | None]


def claude_code(home: Path, proc: Path = Path("/proc")) -> dict[Key, Activity]:
    """Open sessions under a Claude Code folder (``~/.claude``). Absent ones have ended."""
    found: dict[Key, Activity] = {}
    for path in _some(home / "sessions", ".json"):
        state = _object(path)
        session, status = state.get("sessionId"), state.get("status")
        if not isinstance(session, str) or not _is_alive(state, proc):
            continue
        if status in _CLAUDE_WORKING:
            found["claude-code", session] = Activity.WORKING
        elif status in _CLAUDE_WAITING:
            found.setdefault(("claude-code", session), Activity.WAITING)
    return found


def codex(home: Path, rollout_of: PathOf, locks: Path = Path("/proc/locks")) -> dict[Key, Activity]:
    """Open threads under a Codex folder (``~/.codex``). ``rollout_of`` finds a thread's file."""
    held = _held(locks)
    found: dict[Key, Activity] = {}
    for path in _some(home / "thread-writer-locks", ".lock"):
        if _inode(path) not in held:
            continue
        rollout = rollout_of(path.stem)
        if rollout is not None:
            found["codex", path.stem] = (
                Activity.WORKING if _turn_is_open(rollout) else Activity.WAITING
            )
    return found


def _some(folder: Path, suffix: str) -> Iterable[Path]:
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(suffix))
    except OSError:
        return []  # an agent that keeps none, or none of it here
    return [folder / name for name in names[:_MAX_FILES]]


def _object(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            state = json.loads(file.read(_MAX_STATE_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}  # gone meanwhile, or half written
    return state if isinstance(state, dict) else {}


def _is_alive(state: Mapping[str, Any], proc: Path) -> bool:
    """Whether the process that wrote the state is still the one with that number."""
    pid, started = state.get("pid"), state.get("procStart")
    if not isinstance(pid, int) or isinstance(pid, bool) or pid <= 0:
        return False
    try:
        # The name in brackets may hold anything; the start time is the 20th field behind it.
        fields = (proc / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return False
    return not isinstance(started, str) or (len(fields) > 19 and fields[19] == started)


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return -1


def _held(locks: Path) -> frozenset[int]:
    try:
        return frozenset(int(inode) for inode in _LOCK.findall(locks.read_text()))
    except OSError:
        return frozenset()


def _turn_is_open(rollout: Path) -> bool:
    """By the last of the lines that begin or end a turn, as far as the file's end shows."""
    try:
        with rollout.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            events = _TURN.findall(file.read(_TAIL_BYTES))
    except OSError:
        return False
    # A turn so long that its beginning is out of sight is under way.
    return not events or events[-1] == b"task_started"
