"""One load for many, errors for a moment, and nothing that a waiter can break."""

import asyncio
from collections.abc import Callable

import pytest

from app.mcp.errors import ServerUnreachable
from app.mcp.single_flight import ClosedError, Limited, SingleFlight


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Loader:
    """Counts its loads; waits until it is let go, fails while told to."""

    def __init__(self) -> None:
        self.loads = 0
        self.go = asyncio.Event()
        self.go.set()
        self.fails = False

    async def __call__(self) -> int:
        self.loads += 1
        number = self.loads
        await self.go.wait()
        if self.fails:
            raise ServerUnreachable
        return number


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(clock: Callable[[], float]) -> SingleFlight[int]:
    return SingleFlight(ttl=100, error_ttl=3, clock=clock)


async def test_many_share_one_load(cache: SingleFlight[int]) -> None:
    load = Loader()
    load.go.clear()
    waiting = [asyncio.create_task(cache.get("k", load)) for _ in range(50)]
    await asyncio.sleep(0)
    load.go.set()
    assert set(await asyncio.gather(*waiting)) == {1}
    assert load.loads == 1
    assert await cache.get("other", load) == 2


async def test_a_waiter_who_is_cancelled_takes_nobody_along(cache: SingleFlight[int]) -> None:
    load = Loader()
    load.go.clear()
    first = asyncio.create_task(cache.get("k", load))
    second = asyncio.create_task(cache.get("k", load))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    load.go.set()
    assert await second == 1
    with pytest.raises(asyncio.CancelledError):
        await first
    assert cache.peek("k") == 1


async def test_a_value_grows_old(cache: SingleFlight[int], clock: Clock) -> None:
    load = Loader()
    await cache.get("k", load)
    clock.now = 99.9
    assert cache.peek("k") == 1
    clock.now = 100
    assert cache.peek("k") is None
    assert cache.peek_stale("k") == 1
    assert await cache.get("k", load) == 2


async def test_a_value_in_use_is_loaded_anew_before_it_is_old(
    cache: SingleFlight[int], clock: Clock
) -> None:
    load = Loader()
    await cache.get("k", load)
    clock.now = 80
    assert await cache.get("k", load) == 1
    await asyncio.sleep(0.01)
    assert load.loads == 2
    clock.now = 150
    assert cache.peek("k") == 2


async def test_a_failed_renewal_leaves_the_fresh_value(
    cache: SingleFlight[int], clock: Clock
) -> None:
    load = Loader()
    await cache.get("k", load)
    load.fails = True
    clock.now = 80
    for _ in range(5):
        assert await cache.get("k", load) == 1
        await asyncio.sleep(0.001)
    assert load.loads == 2
    clock.now = 100
    with pytest.raises(ServerUnreachable):
        await cache.get("k", load)


async def test_an_error_is_kept_for_a_moment(cache: SingleFlight[int], clock: Clock) -> None:
    load = Loader()
    load.fails = True
    caught = []
    for _ in range(3):
        with pytest.raises(ServerUnreachable) as error:
            await cache.get("k", load)
        caught.append(error.value)
    assert load.loads == 1
    assert caught[1] is not caught[2]
    assert caught[1].sentence == caught[0].sentence
    load.fails = False
    clock.now = 3.1
    assert await cache.get("k", load) == 2


async def test_forgetting_also_disowns_the_load_under_way(cache: SingleFlight[int]) -> None:
    load = Loader()
    load.go.clear()
    first = asyncio.create_task(cache.get("k", load))
    await asyncio.sleep(0)
    cache.forget("k")
    load.go.set()
    assert await first == 1
    assert cache.peek("k") is None
    assert await cache.get("k", load) == 2


async def test_closing_tells_those_who_wait(cache: SingleFlight[int]) -> None:
    load = Loader()
    load.go.clear()
    waiting = asyncio.create_task(cache.get("k", load))
    await asyncio.sleep(0)
    await cache.aclose()
    with pytest.raises(ClosedError):
        await waiting


async def test_a_person_who_tries_again_need_not_wait_for_the_error_to_be_forgotten(
    cache: SingleFlight[int],
) -> None:
    load = Loader()
    load.fails = True
    for _ in range(2):
        with pytest.raises(ServerUnreachable):
            await cache.get("k", load)
    assert load.loads == 1
    load.fails = False
    cache.forget_error("k")
    assert await cache.get("k", load) == 2
    cache.forget_error("k")
    assert await cache.get("k", load) == 2


async def test_a_value_may_be_fresh_for_less_and_never_for_more(clock: Clock) -> None:
    cache: SingleFlight[str] = SingleFlight(ttl=100, error_ttl=3, clock=clock)

    async def load(seconds: float) -> Limited[str]:
        return Limited("value", seconds)

    await cache.get("short", lambda: load(10))
    await cache.get("long", lambda: load(1_000))
    clock.now = 9
    assert cache.peek("short") == "value"
    clock.now = 10
    assert cache.peek("short") is None
    assert cache.peek_stale("short") == "value"
    clock.now = 99
    assert cache.peek("long") == "value"
    clock.now = 100
    assert cache.peek("long") is None


async def test_what_is_expired_is_found_by_those_who_take_it_old(cache: SingleFlight[int]) -> None:
    load = Loader()
    await cache.get("k", load)
    await cache.get("other", load)
    cache.expire("k")
    assert cache.peek("k") is None
    assert cache.peek_stale("k") == 1
    assert cache.peek("other") == 2
    assert await cache.get("k", load) == 3
    cache.expire("never loaded")
    assert cache.peek_stale("never loaded") is None


async def test_a_load_that_began_before_the_expiry_does_not_count(cache: SingleFlight[int]) -> None:
    load = Loader()
    load.go.clear()
    waiting = asyncio.create_task(cache.get("k", load))
    await asyncio.sleep(0)
    cache.expire("k")
    load.go.set()
    assert await waiting == 1
    assert cache.peek("k") is None
    assert await cache.get("k", load) == 2


async def test_expiring_some_leaves_the_others(cache: SingleFlight[int]) -> None:
    load = Loader()
    for key in ("a1", "a2", "b1"):
        await cache.get(key, load)
    load.fails = True
    with pytest.raises(ServerUnreachable):
        await cache.get("a3", load)
    load.fails = False
    cache.expire_where(lambda key: str(key).startswith("a"))
    assert [cache.peek(key) for key in ("a1", "a2", "b1")] == [None, None, 3]
    # The failure is forgotten too.
    assert await cache.get("a3", load) == 5


async def test_closing_ends_the_loads_that_count_no_more(cache: SingleFlight[int]) -> None:
    load = Loader()
    load.go.clear()
    waiting = asyncio.create_task(cache.get("k", load))
    await asyncio.sleep(0)
    cache.forget("k")
    await cache.aclose()
    with pytest.raises(ClosedError):
        await asyncio.wait_for(waiting, 10)
