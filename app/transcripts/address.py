"""The address of an entry: ``<transcript>-<seq>``, for example ``0-142``."""

import re
from dataclasses import dataclass

from app.errors import NotFoundError

_ADDRESS = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")


@dataclass(frozen=True, slots=True, order=True)
class Address:
    transcript: int
    seq: int

    def __str__(self) -> str:
        return f"{self.transcript}-{self.seq}"


def parse(text: str) -> Address:
    """Raises `NotFoundError` for anything but two short numbers: the text comes from a request."""
    found = _ADDRESS.fullmatch(text)
    if found is None:
        raise NotFoundError("There is no such entry in this session.")
    return Address(int(found[1]), int(found[2]))
