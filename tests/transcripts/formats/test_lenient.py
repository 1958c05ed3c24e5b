import pytest

from app.transcripts.formats.base import UnreadableLineError
from app.transcripts.formats.lenient import (
    MAX_DEPTH,
    compact,
    load_object,
    loads,
    pretty,
    too_deep,
)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a": 1}', {"a": 1}),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'"\\ud800x"', "\ufffdx"),
        (b'{"\\udfff": "\\ud83d\\ude00"}', {"\ufffd": "\U0001f600"}),
        (b"[NaN, Infinity, -1e999]", [None, None, None]),
        (b'"\xff"', "\ufffd"),
        (b'\xef\xbb\xbf"x"', "x"),
        (b'"\\u0000"', "\0"),
        (b"1" * 5_000, None),
        (b"12345678901234567890123", 12345678901234567890123),
    ],
)
def test_loads(data: bytes, value: object) -> None:
    assert loads(data) == value


@pytest.mark.parametrize("data", [b"", b"{", b"nul", b"[" * 100_000, b'{"a":1}{'])
def test_unreadable(data: bytes) -> None:
    with pytest.raises(UnreadableLineError):
        loads(data)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (' {"a":"\\ud800"}', {"a": "\ufffd"}),
        ("[1]", None),
        ("{", None),
        ("", None),
        ("text", None),
        ('{"a":' * 300 + "1" + "}" * 300, None),
    ],
)
def test_load_object(text: str, value: object) -> None:
    assert load_object(text) == value


def test_depth_and_text() -> None:
    value: object = 1
    for _ in range(MAX_DEPTH - 1):
        value = [value]
    assert not too_deep(value)
    assert too_deep([[value]])
    assert pretty([[value]]) == "(nested too deeply to show)"
    assert pretty({"a": [1]}) == '{\n  "a": [\n    1\n  ]\n}'
    assert compact({"a": [1, "ü"]}) == '{"a":[1,"ü"]}'
    assert compact({"n": 10**30}) == '{"n":' + str(10**30) + "}"
