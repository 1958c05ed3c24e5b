"""A Claude Code transcript of any length, made up, the same bytes every time.

Its proportions are those of a real one: of ten lines four call a tool, four are results, two are
text; half of them are shorter than a kilobyte.
"""

import json
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

_WORDS: Final = """
    the handler reads a request and returns the page while session cache token router template
    migration index column query worker queue retry timeout sandbox frame origin policy header
    message event stream client server tool result agent view resource schema field value
    parse render escape test fixture assert module function class import config secret proxy
    upstream volume image layer build
""".split()  # noqa: SIM905 - a list of words is easier to read
_PATHS: Final = (
    "app/main.py",
    "app/views/session.py",
    "app/mcp/host.py",
    "app/static/bridge.js",
    "tests/test_sandbox.py",
    "migrations/0007_views.sql",
    "app/templates/session.html",
)
_CHART: Final = "mcp__charts__render_chart"
_HOW_OFTEN: Final = {
    "Bash": 30,
    "Read": 22,
    "Edit": 16,
    "Grep": 9,
    "Write": 6,
    "Glob": 5,
    "TodoWrite": 5,
    _CHART: 4,
    "WebFetch": 2,
    "Task": 1,
}
_Json = dict[str, Any]


class _Session:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.id = self._uuid()
        self._now = datetime(2026, 9, 1, 8, tzinfo=UTC)
        self._parent: str | None = None
        self._open: tuple[str, str, _Json] | None = None  # the call that waits for its result
        self._arguments: dict[str, Callable[[], _Json]] = {
            "Bash": lambda: {
                "command": f"uv run pytest -q {self._path()} -k {self._words(1)} && "
                f"rg -n '{self._words(2)}' app | head -40",
                "description": self._words(6),
            },
            "Read": lambda: {
                "file_path": self._path(),
                "offset": self._random.randrange(1, 900),
                "limit": 120,
            },
            "Edit": lambda: {
                "file_path": self._path(),
                "old_string": self._code(self._random.randrange(3, 12)),
                "new_string": self._code(self._random.randrange(3, 14)),
            },
            "Grep": lambda: {"pattern": self._words(1), "path": "app", "-n": True},
            "Write": lambda: {
                "file_path": self._path(),
                "content": self._code(self._random.randrange(15, 60)),
            },
            "Glob": lambda: {"pattern": "**/*.py"},
            "TodoWrite": lambda: {
                "todos": [
                    {
                        "content": self._words(6),
                        "status": self._random.choice(["pending", "in_progress", "completed"]),
                        "activeForm": self._words(5),
                    }
                    for _ in range(5)
                ]
            },
            _CHART: lambda: {
                "title": self._words(3),
                "series": [
                    {
                        "name": self._words(1),
                        "data": [self._random.randrange(100) for _ in range(12)],
                    }
                    for _ in range(3)
                ],
            },
            "WebFetch": lambda: {
                "url": f"https://example.invalid/{self._words(1)}",
                "prompt": self._words(12),
            },
            "Task": lambda: {
                "description": self._words(4),
                "prompt": self._words(60),
                "subagent_type": "general-purpose",
            },
        }

    def lines(self, number: int) -> Iterator[_Json]:
        yield self._prompt()
        for _ in range(number - 1):
            if self._open is not None:
                yield self._result(*self._open)
                continue
            kind = self._random.random()
            if kind < 0.03:
                yield self._prompt()
            elif kind < 0.37:
                yield self._assistant({"type": "text", "text": self._text()})
            else:
                yield self._call()

    def _uuid(self) -> str:
        return str(UUID(int=self._random.getrandbits(128), version=4))

    def _short(self, prefix: str) -> str:
        return prefix + self._uuid().replace("-", "")[:24]

    def _words(self, number: int) -> str:
        return " ".join(self._random.choices(_WORDS, k=number))

    def _path(self) -> str:
        return f"/home/dev/project/{self._random.choice(_PATHS)}"

    def _code(self, lines: int) -> str:
        return "\n".join(self._statement() for _ in range(lines))

    def _statement(self) -> str:
        a, b, c = self._random.choices(_WORDS, k=3)
        return self._random.choice(
            [
                f"def {a}_{b}({c}: str) -> None:",
                f'    {a} = {b}["{c}"]  # {self._words(3)}',
                f"    if {a} is not None and {b} < {self._random.randrange(999)}:",
                f'        raise ValueError(f"{a} {{{b}}} {c}")',
            ]
        )

    def _text(self) -> str:
        draw = self._random
        parts = [self._words(draw.randrange(20, 60)).capitalize() + "."]
        if draw.random() < 0.45:
            points = [
                f"- **{self._words(2)}**: `{draw.choice(_PATHS)}` {self._words(8)}"
                for _ in range(draw.randrange(2, 6))
            ]
            parts.append("\n".join(points))
        if draw.random() < 0.3:
            parts.append(f"```python\n{self._code(draw.randrange(4, 14))}\n```")
        if draw.random() < 0.1:
            rows = [f"| {self._words(1)} | {self._words(2)} |" for _ in range(4)]
            parts.append("\n".join(["| a | b |", "|---|---|", *rows]))
        return "\n\n".join(parts)

    def _line(self, kind: str, message: _Json) -> _Json:
        self._now += timedelta(milliseconds=self._random.randrange(300, 9000))
        before, self._parent = self._parent, self._uuid()
        return {
            "parentUuid": before,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/dev/project",
            "sessionId": self.id,
            "version": "2.1.50",
            "gitBranch": "main",
            "type": kind,
            "message": message,
            "uuid": self._parent,
            "timestamp": self._now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }

    def _prompt(self) -> _Json:
        text = self._words(self._random.randrange(15, 90)).capitalize() + "."
        return self._line("user", {"role": "user", "content": text})

    def _assistant(self, block: _Json) -> _Json:
        draw = self._random.randrange
        message = {
            "id": self._short("msg_"),
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "content": [block],
            "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": {
                "input_tokens": draw(3, 900),
                "cache_creation_input_tokens": draw(0, 6000),
                "cache_read_input_tokens": draw(10000, 150000),
                "output_tokens": draw(20, 1500),
                "service_tier": "standard",
            },
        }
        return self._line("assistant", message) | {"requestId": self._short("req_")}

    def _call(self) -> _Json:
        (name,) = self._random.choices(list(_HOW_OFTEN), list(_HOW_OFTEN.values()))
        call_id, arguments = self._short("toolu_"), self._arguments[name]()
        self._open = call_id, name, arguments
        return self._assistant(
            {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
        )

    def _output(self, name: str, lines: int) -> str:
        draw = self._random
        if name == "Read":
            code = self._code(lines).splitlines()
            return "\n".join(f"{number:6d}→{line}" for number, line in enumerate(code, 1))
        if name == "Bash":
            return "\n".join(
                f"{draw.choice(_PATHS)}::test_{self._words(1)} "
                f"\x1b[32mPASSED\x1b[0m [{draw.randrange(100):3d}%]"
                for _ in range(lines)
            )
        if name == _CHART:
            rows = [{"k": self._words(1), "v": draw.randrange(9999)} for _ in range(min(lines, 20))]
            return json.dumps({"ok": True, "rows": rows})
        return "\n".join(self._words(9) for _ in range(max(1, lines // 3)))

    def _result(self, call_id: str, name: str, arguments: _Json) -> _Json:
        self._open = None
        failed = self._random.random() < 0.05
        lines = min(int(self._random.paretovariate(1.15) * 5), 160)
        body = self._output(name, lines)
        listed = name in ("Task", "WebFetch", _CHART)
        block: _Json = {
            "tool_use_id": call_id,
            "type": "tool_result",
            "content": [{"type": "text", "text": body}] if listed else body,
        }
        if failed:
            block["is_error"] = True
        line = self._line("user", {"role": "user", "content": [block]})
        # The agent says it once more, in a form of its own.
        if name == "Bash":
            kept: _Json = {"stdout": body[:2000], "stderr": "", "interrupted": False}
        elif name == "Edit":
            kept = {
                "filePath": arguments["file_path"],
                "oldString": arguments["old_string"],
                "newString": arguments["new_string"],
                "structuredPatch": [],
                "userModified": False,
            }
        else:
            kept = {"type": "text", "numLines": lines}
        return line | {"toolUseResult": kept}


def write(entries: int, folder: Path, seed: int = 7) -> Path:
    """A transcript of ``entries`` lines in ``folder``; returns its path."""
    session = _Session(seed)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{session.id}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for line in session.lines(entries):
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
    return path
