"""Views' documents in the database, once each, by the hash of their content."""

import hashlib
from typing import Final

import zstandard
from sqlmodel import Session

from app.db import tables
from app.db.upsert import insert_once

_ZSTD_LEVEL: Final = 3


def content_hash(html: str) -> str:
    """The SHA-256 of the document's UTF-8 bytes, in hexadecimal."""
    return hashlib.sha256(html.encode()).hexdigest()


def store(db: Session, html: str) -> str:
    """Keep the document, so that whichever process is asked can serve it; returns its hash."""
    digest = content_hash(html)
    if db.get(tables.Fragment, digest) is not None:
        return digest
    body = html.encode()
    data = zstandard.ZstdCompressor(level=_ZSTD_LEVEL).compress(body)
    values = {"content_hash": digest, "size": len(body), "data": data, "created_at": tables.now()}
    # Another process may store the same document at the same moment: the same bytes.
    insert_once(db, tables.Fragment, values, ["content_hash"])
    return digest


def load(db: Session, digest: str) -> str | None:
    """The document with that hash, or ``None`` when it is not kept."""
    row = db.get(tables.Fragment, digest)
    if row is None:
        return None
    return zstandard.ZstdDecompressor().decompress(row.data, max_output_size=row.size).decode()
