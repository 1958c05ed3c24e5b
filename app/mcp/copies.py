"""The last ``tools/list`` of each server, in the database: what a start knows before it has asked.

A copy says whether a row has a view, and shows a view whose server is gone. It never authorizes a
call: that takes an index that the server gave a moment ago.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import zstandard
from sqlalchemy import delete
from sqlmodel import Session, col

from app.db import tables
from app.db.upsert import upsert
from app.mcp.target import Key
from app.mcp.tool_index import ToolIndex, parse_tools

_MAX_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class IndexCopy:
    """``index`` as the server gave it at ``read_at``."""

    index: ToolIndex
    read_at: datetime


def save_tools(db: Session, key: Key, index: ToolIndex) -> None:
    """Keep ``index`` in the place of the copy before it."""
    url, fingerprint = key
    listed = json.dumps([dict(tool.raw) for tool in index.tools.values()])
    values = {
        "url": url,
        "fingerprint": fingerprint,
        "data": zstandard.compress(listed.encode()),
        "read_at": tables.now(),
    }
    upsert(db, tables.ToolIndexCopy, values, ["url", "fingerprint"])


def load_tools(db: Session, key: Key) -> IndexCopy | None:
    url, fingerprint = key
    row = db.get(tables.ToolIndexCopy, (url, fingerprint))
    if row is None:
        return None
    listed = zstandard.ZstdDecompressor().decompress(row.data, max_output_size=_MAX_BYTES)
    return IndexCopy(parse_tools(json.loads(listed)), row.read_at)


def forget(db: Session, url: str) -> None:
    """Whatever was kept of the server at ``url``, its views too; the URL itself may hold a key."""
    for row in (tables.ToolIndexCopy, tables.FragmentCopy):
        db.execute(delete(row).where(col(row.url) == url))
