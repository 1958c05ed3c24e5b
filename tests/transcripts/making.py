"""Hand-made lines, and a picture of what the store holds."""

import json
from pathlib import Path
from typing import Any

from sqlmodel import col, select

from app.db import tables
from app.db.engine import Database
from app.transcripts.chunks import decompress
from app.transcripts.ingest import import_paths

RECORDED = Path(__file__).parent.parent / "fixtures" / "transcripts"
SESSION_ID = "11111111-2222-4333-8444-555555555555"


def line(kind: str, **fields: Any) -> bytes:
    """One Claude Code line, without its newline."""
    common = {
        "type": kind,
        "sessionId": SESSION_ID,
        "uuid": "u",
        "cwd": "/home/dev/project",
        "timestamp": "2026-11-30T20:00:00.000Z",
    }
    return json.dumps(common | fields).encode()


def user(content: Any, **fields: Any) -> bytes:
    return line("user", message={"role": "user", "content": content}, **fields)


def assistant(*blocks: dict[str, Any], **fields: Any) -> bytes:
    return line("assistant", message={"role": "assistant", "content": list(blocks)}, **fields)


def call(tool_call_id: str, name: str = "mcp__probe__structured", **arguments: Any) -> bytes:
    block = {"type": "tool_use", "id": tool_call_id, "name": name, "input": arguments}
    return assistant(block)


def result(tool_call_id: str, content: Any = "ok", *, failed: bool = False, **fields: Any) -> bytes:
    block = {"type": "tool_result", "tool_use_id": tool_call_id, "content": content}
    return user([block | ({"is_error": True} if failed else {})], **fields)


def load(database: Database, *paths: Path) -> str:
    """Import, and return the id of the only session."""
    import_paths(database, paths)
    with database.session() as db:
        return db.exec(select(tables.Session.id)).one()


def picture(database: Database, source: str = "local") -> dict[str, Any]:
    """Everything stored for one source, without the ids that the database gave out."""
    with database.session() as db:
        found: dict[str, Any] = {}
        query = select(tables.Transcript).where(tables.Transcript.source == source)
        for transcript in db.exec(query.order_by(col(tables.Transcript.path))):
            owner = db.get_one(tables.Session, transcript.session_id)
            entries = select(tables.Entry).where(tables.Entry.transcript_id == transcript.id)
            chunks = select(tables.Chunk).where(tables.Chunk.transcript_id == transcript.id)
            calls = select(tables.ToolCall).where(tables.ToolCall.transcript_id == transcript.id)
            unstable = {"id", "session_id", "transcript_id"}
            found[transcript.path] = {
                "transcript": transcript.model_dump(exclude={*unstable, "source"}),
                "session": owner.model_dump(exclude={"id", "source"}),
                "entries": [
                    row.model_dump(exclude=unstable)
                    for row in db.exec(entries.order_by(col(tables.Entry.seq)))
                ],
                "chunks": [
                    (row.number, row.first_byte, decompress(row.data, row.size))
                    for row in db.exec(chunks.order_by(col(tables.Chunk.number)))
                ],
                "calls": [
                    row.model_dump(exclude=unstable)
                    for row in db.exec(calls.order_by(col(tables.ToolCall.call_seq)))
                ],
            }
        return found
