import pytest

from app.transcripts.search_query import SearchQuery
from app.transcripts.snippet import snippet


def shown(text: str, query: str) -> str:
    pieces = snippet(text, SearchQuery.of(query).pattern)
    return "".join(f"[{piece.text}]" if piece.marked else piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("one two three", "two", "one [two] three"),
        ("two\n\n  lines", "two lines", "[two] [lines]"),
        ("nothing here", "else", "nothing here"),
        ("", "x", ""),
    ],
)
def test_a_short_text_is_shown_whole(text: str, query: str, expected: str) -> None:
    assert shown(text, query) == expected


def test_a_long_one_around_its_first_match() -> None:
    got = shown("before " * 100 + "here " + "after " * 100, "here")
    assert got.startswith("…before ")
    assert "[here] after" in got
    assert got.endswith("…")
    assert 200 < len(got) < 260
