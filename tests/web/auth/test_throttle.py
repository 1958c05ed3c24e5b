"""Few password checks at a time, away from the event loop."""

import asyncio
import threading

from app.web.auth import throttle


async def test_checks_wait_for_each_other_and_nobody_waits_for_them() -> None:
    main = threading.get_ident()
    go_on = threading.Event()
    running: set[int] = set()
    most = 0
    lock = threading.Lock()

    def check() -> bool:
        nonlocal most
        with lock:
            running.add(threading.get_ident())
            most = max(most, len(running))
        go_on.wait(20)
        with lock:
            running.discard(threading.get_ident())
        return threading.get_ident() != main

    checks = [asyncio.create_task(throttle.in_thread(check)) for _ in range(6)]
    for _ in range(2_000):  # the loop is free while checks are at work
        await asyncio.sleep(0.001)
        if len(running) == 2:
            break
    for _ in range(50):
        await asyncio.sleep(0.001)
    assert len(running) == 2
    go_on.set()
    assert await asyncio.gather(*checks) == [True] * 6
    assert most == 2
