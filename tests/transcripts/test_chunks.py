"""Where lines go, and that they come back."""

import pytest

from app.db.engine import Database
from app.transcripts import chunks
from app.transcripts.chunks import CHUNK_BYTES, ChunkWriter, Place, read_lines
from app.transcripts.ingest import import_paths
from tests.transcripts.conftest import Write
from tests.transcripts.making import picture, user


def _places(sizes: list[int]) -> list[tuple[int, int]]:
    writer = ChunkWriter(1)
    return [writer.add(b"x" * (size - 1)) for size in sizes]


@pytest.mark.parametrize(
    ("sizes", "places"),
    [
        ([10, 20, 30], [(0, 0), (0, 10), (0, 30)]),
        ([CHUNK_BYTES - 10, 10, 1], [(0, 0), (0, CHUNK_BYTES - 10), (1, 0)]),
        ([CHUNK_BYTES - 10, 11], [(0, 0), (1, 0)]),
        ([10, CHUNK_BYTES * 3, 10, 10], [(0, 0), (1, 0), (2, 0), (2, 10)]),
    ],
)
def test_chunks_hold_whole_lines_and_a_large_line_has_its_own(
    sizes: list[int], places: list[tuple[int, int]]
) -> None:
    assert _places(sizes) == places


def test_lines_come_back_from_every_chunk(
    database: Database, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "CHUNK_BYTES", 1_000)
    lines = [user(f"{number} " + "x" * (number * 37 % 1_500)) for number in range(120)]
    import_paths(database, [write(*lines)])
    (one,) = picture(database).values()
    assert len(one["chunks"]) > 50
    places = [Place(entry["chunk"], entry["offset"], entry["size"]) for entry in one["entries"]]
    with database.session() as db:
        found = dict(read_lines(db, 1, [*places, *places]))
    assert [found[place] for place in places] == lines
    starts = [first_byte for _, first_byte, _ in one["chunks"]]
    sizes = [len(data) for _, _, data in one["chunks"]]
    assert starts == [sum(sizes[:number]) for number in range(len(sizes))]
