import pytest

from app.errors import NotFoundError
from app.transcripts.address import Address, parse


def test_round_trip() -> None:
    assert parse("0-142") == Address(0, 142)
    assert str(Address(12, 3)) == "12-3"


@pytest.mark.parametrize(
    "text",
    ["", "0", "0-", "-1", "0-1-2", "a-1", "0-1\n", " 0-1", "0-1234567890", "٠-١", "+0-1", "0_0-1"],
)
def test_anything_else_is_not_found(text: str) -> None:
    with pytest.raises(NotFoundError):
        parse(text)
