"""The search language, and that nothing typed leaves it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.transcripts.search_query import SearchQuery, Term


@pytest.mark.parametrize(
    ("text", "fts5", "tsquery"),
    [
        ("one", '"one"', "('one')"),
        ("one Two", '"one" AND "Two"', "('one') & ('two')"),
        ('"one two" three', '"one two" AND "three"', "('one' <-> 'two') & ('three')"),
        ("app/main.py", '"app main py"', "('app' <-> 'main' <-> 'py')"),
        ("begin*", '"begin" *', "('begin':*)"),
        ("one -two", '("one") NOT ("two")', "('one') & !('two')"),
        ('one -"two three" -x*', '("one") NOT ("two three" OR "x")', None),
        ('"never closed', '"never closed"', None),
        ("Café", '"Café"', "('cafe')"),
        ("NOT OR", '"NOT" AND "OR"', "('not') & ('or')"),
        ("don't", '"don t"', None),
    ],
)
def test_what_is_typed_is_read(text: str, fts5: str, tsquery: str | None) -> None:
    query = SearchQuery.of(text)
    assert query.fts5 == fts5
    assert tsquery is None or query.tsquery == tsquery


@pytest.mark.parametrize("text", ["", "  ", "-", '""', "*", "-two", "--", '-"a b"', "…", '"'])
def test_without_a_wanted_word_it_asks_for_nothing(text: str) -> None:
    assert not SearchQuery.of(text)


def test_a_star_after_one_letter_is_none() -> None:
    assert SearchQuery.of("a*").wanted == (Term(("a",)),)
    assert SearchQuery.of("ab*").wanted == (Term(("ab",), prefix=True),)


def test_a_query_is_bounded() -> None:
    query = SearchQuery.of("word " * 10_000)
    assert len(query.wanted) == 20


@given(st.text(max_size=60))
def test_words_hold_nothing_but_letters_and_digits(text: str) -> None:
    query = SearchQuery.of(text)
    for term in query.wanted + query.unwanted:
        assert term.words
        assert all(word.isalnum() for word in term.words)


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("one", "One, done, ONE", ["One", "ONE"]),
        ('"one two"', "one two, one-two, one three", ["one two", "one-two"]),
        ("beg*", "begin abegin", ["begin"]),
        ("a.b", "a_b", ["a_b"]),
    ],
)
def test_what_is_marked(query: str, text: str, marked: list[str]) -> None:
    assert [found[0] for found in SearchQuery.of(query).pattern.finditer(text)] == marked
