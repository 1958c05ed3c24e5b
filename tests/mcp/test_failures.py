"""How long a server that could not be reached is left alone."""

from app.mcp.errors import ServerUnreachable
from app.mcp.failures import MOST, Failures

KEY = ("http://x/", "fingerprint")
OTHER = ("http://x/", "another")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def pauses(failures: Failures, clock: Clock, count: int) -> list[float]:
    """How long each of so many failures, one right after the other's pause, counts."""
    found = []
    for _ in range(count):
        failures.add(KEY, ServerUnreachable())
        began = clock.now
        while failures.get(KEY) is not None:
            clock.now += 0.5
        found.append(clock.now - began)
    return found


def test_the_pause_doubles_up_to_a_bound() -> None:
    clock = Clock()
    failures = Failures(1, clock)
    assert pauses(failures, clock, 7) == [1, 2, 4, 8, 16, 16, 16]
    assert MOST == 16


def test_a_failure_long_after_the_last_is_a_first_one() -> None:
    clock = Clock()
    failures = Failures(1, clock)
    pauses(failures, clock, 3)
    clock.now += MOST
    assert pauses(failures, clock, 2) == [1, 2]


def test_after_success_or_a_persons_wish_it_begins_anew() -> None:
    clock = Clock()
    failures = Failures(1, clock)
    pauses(failures, clock, 3)
    failures.add(KEY, ServerUnreachable())
    failures.forget(KEY)
    assert failures.get(KEY) is None
    assert pauses(failures, clock, 1) == [1]


def test_each_credential_has_its_own() -> None:
    failures = Failures(1, Clock())
    failures.add(KEY, ServerUnreachable())
    assert failures.get(OTHER) is None
    failures.forget(OTHER)
    first, second = failures.get(KEY), failures.get(KEY)
    assert isinstance(first, ServerUnreachable)
    # Each raise adds a traceback to its exception.
    assert first is not second
