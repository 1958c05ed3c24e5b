"""Small Claude Code transcripts, line by line."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sqlmodel import select

from app.db import tables
from app.db.engine import Database
from app.transcripts.ingest import import_paths


class Recording:
    """A transcript in the making; every line gets the next second of 30 November 2026."""

    def __init__(self, folder: str = "/home/dev/shop") -> None:
        self.folder = folder
        self.lines: list[dict[str, Any]] = []

    def _add(self, kind: str, content: object, **more: object) -> "Recording":
        number = len(self.lines)
        self.lines.append(
            {
                "type": kind,
                "uuid": f"00000000-0000-4000-8000-{number:012d}",
                "sessionId": "00000000-0000-4000-8000-00000000000a",
                "timestamp": f"2026-11-30T20:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
                "cwd": self.folder,
                "message": {"role": kind, "content": content},
                **more,
            }
        )
        return self

    def user(self, text: str) -> "Recording":
        return self._add("user", text)

    def assistant(self, text: str) -> "Recording":
        return self._add("assistant", [{"type": "text", "text": text}])

    def thinking(self, text: str) -> "Recording":
        return self._add("assistant", [{"type": "thinking", "thinking": text, "signature": "x"}])

    def call(
        self,
        name: str,
        arguments: dict[str, Any],
        result: object = None,
        *,
        call_id: str = "toolu_1",
        failed: bool = False,
    ) -> "Recording":
        """A call, and its result unless that is ``None``."""
        use = {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
        self._add("assistant", [use])
        if result is None:
            return self
        answer = {"type": "tool_result", "tool_use_id": call_id, "content": result}
        if failed:
            answer["is_error"] = True
        return self._add("user", [answer], toolUseResult=result)

    def interrupted(self, name: str, arguments: dict[str, Any], *, call_id: str) -> "Recording":
        use = {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
        self._add("assistant", [use])
        said = "The user doesn't want to proceed with this tool use."
        answer = {
            "type": "tool_result",
            "tool_use_id": call_id,
            "content": said,
            "is_error": True,
        }
        return self._add("user", [answer], toolUseResult="User rejected tool use")

    def import_into(
        self, database: Database, folder: Path, *, tail: bytes = b"", source: str = "local"
    ) -> str:
        """The id of the session that this recording becomes. ``tail`` is written after it;
        another ``source`` is another machine, and so another session.
        """
        path = folder / "projects" / "-home-dev-shop" / "00000000-0000-4000-8000-00000000000a.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_jsonl(self.lines) + tail)
        summary = import_paths(database, [path], source)
        assert summary.files_skipped == []
        with database.session() as db:
            return db.exec(select(tables.Session.id).where(tables.Session.source == source)).one()


def _jsonl(lines: Iterable[object]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)
