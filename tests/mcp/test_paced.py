import asyncio
import logging

import pytest

from app.mcp.paced import Paced
from tests.mcp.servers import until


async def test_the_first_comes_at_once_and_the_last_in_its_time() -> None:
    got: list[int] = []
    paced = Paced(got.append, 0.05)
    for number in range(10):
        paced(number)
    assert got == [0]
    await until(lambda: len(got) == 2)
    assert got == [0, 9]
    paced(10)
    assert got == [0, 9]
    await until(lambda: got == [0, 9, 10])


async def test_after_a_while_the_next_comes_at_once_again() -> None:
    got: list[int] = []
    paced = Paced(got.append, 0.01)
    paced(1)
    await asyncio.sleep(0.03)
    paced(2)
    assert got == [1, 2]


async def test_what_waits_can_be_had_at_once_and_comes_once() -> None:
    got: list[int] = []
    paced = Paced(got.append, 0.05)
    paced(1)
    paced(2)
    paced.flush()
    paced.flush()
    assert got == [1, 2]
    await asyncio.sleep(0.1)
    assert got == [1, 2]


async def test_after_closing_nothing_comes() -> None:
    got: list[int] = []
    paced = Paced(got.append, 0.02)
    paced(1)
    paced(2)
    paced.close()
    paced(3)
    await asyncio.sleep(0.05)
    assert got == [1]


async def test_a_failure_is_logged_and_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    got: list[int] = []

    def call(number: int) -> None:
        got.append(number)
        raise ValueError("odd")

    paced = Paced(call, 0.01)
    with caplog.at_level(logging.ERROR):
        paced(1)
        paced(2)
        await until(lambda: got == [1, 2])
    assert len(caplog.records) == 2
