import pytest

from app.web.ansi import strip_escapes


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b[1;32mok\x1b[0m", "ok"),
        ("\x1b[2K\x1b[1Gx", "x"),
        ("\x1b]8;;https://evil.example\x07link\x1b]8;;\x07", "link"),
        ("\x1b]0;title\x1b\\x", "x"),
        ("\x1bP1$r0m\x1b\\x", "x"),
        ("\x1b(Bx\x1b=y", "xy"),
        ("\x9b31mx", "x"),
        ("a\r\nb", "a\nb"),
        ("plain [31m", "plain [31m"),
    ],
)
def test_sequences_go_and_words_stay(text: str, left: str) -> None:
    assert strip_escapes(text) == left


def test_a_lone_escape_stays_to_be_seen() -> None:
    assert strip_escapes("a\x1b") == "a\x1b"


def test_an_unterminated_sequence_swallows_no_more_than_its_own() -> None:
    assert strip_escapes("\x1b]0;" + "x" * 10 + "\x1b[31mred") == "red"
