"""What the full text index really holds, word by word."""

from sqlalchemy import text
from sqlmodel import select

from app.db import tables
from app.db.engine import Database
from app.transcripts.search_index import entry_of

Words = dict[tuple[str, int], str]


def indexed(database: Database, source: str = "local") -> Words:
    """(path, seq) → the entry's words in their order, of one source. An entry of no transcript
    that is there fails the test: it was left over.
    """
    with database.session() as db:
        known = {row.id: row for row in db.exec(select(tables.Transcript))}
        found: dict[tuple[int, int], list[tuple[int, str]]] = {}
        if database.engine.dialect.name == "sqlite":
            db.execute(text("DROP TABLE IF EXISTS temp.vocabulary"))
            db.execute(
                text(
                    "CREATE VIRTUAL TABLE temp.vocabulary"
                    " USING fts5vocab(main, search_index, instance)"
                )
            )
            for row in db.execute(text("SELECT doc, offset, term FROM temp.vocabulary")):
                found.setdefault(entry_of(row.doc), []).append((row.offset, row.term))
        else:
            rows = db.execute(
                text(
                    "SELECT transcript_id, seq, lexeme, place FROM search_index,"
                    " unnest(words) AS word (lexeme, places, weights), unnest(places) AS place"
                )
            )
            for transcript_id, seq, lexeme, place in rows:
                found.setdefault((transcript_id, seq), []).append((place, lexeme))
        return {
            (known[transcript_id].path, seq): " ".join(word for _, word in sorted(words))
            for (transcript_id, seq), words in found.items()
            if known[transcript_id].source == source
        }
