"""Chromium as it is, without a test driver's switches: spoken to over a pipe, and its net log read.

Playwright's browser never opens a connection ahead of time, not even where nothing forbids it, and
takes the end of a view's process for the end of the page.
"""

import contextlib
import fcntl
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PATIENCE_SECONDS = 60
# The browser reads its orders from descriptor 3 and answers on 4.
_LAUNCH = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); " + (
    "os.execv(sys.argv[3], sys.argv[3:])"
)


class Tab:
    """One tab; ``crashed`` when its own process has ended."""

    def __init__(self, browser: "PlainChromium", session: str, target: str) -> None:
        self._browser = browser
        self._session = session
        self.target = target

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return self._browser.ask(method, params, self._session)

    def go(self, url: str) -> None:
        self.ask("Page.navigate", url=url)
        self.until("document.readyState === 'complete'")

    def evaluate(self, expression: str) -> Any:
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, expression: str, seconds: float = _PATIENCE_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not self.evaluate(f"Boolean({expression})"):
            assert time.monotonic() < deadline, f"never came true: {expression}"
            time.sleep(0.1)

    @property
    def crashed(self) -> bool:
        return self._session in self._browser.crashed

    def close(self) -> None:
        self._browser.ask("Target.closeTarget", {"targetId": self.target})


class PlainChromium:
    """``net_log`` is written when the browser has ended."""

    def __init__(self, path: str, folder: Path) -> None:
        self.net_log = folder / "net-log.json"
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        # Out of the way of the two numbers that the launcher needs.
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (to_read, to_write)]
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            f"--user-data-dir={folder / 'profile'}",
            f"--log-net-log={self.net_log}",
            "--remote-debugging-pipe",
        ]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, *map(str, high), path, *options, "about:blank"],
            pass_fds=high,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for fd in (to_read, to_write, *high):
            os.close(fd)
        self._number = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._news = threading.Condition()
        self._is_over = False
        self.crashed: set[str] = set()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        rest = b""
        while data := os.read(self._from, 1 << 16):
            *messages, rest = (rest + data).split(b"\0")
            with self._news:
                for message in map(json.loads, messages):
                    if "id" in message:
                        self._answers[message["id"]] = message
                    elif message["method"] == "Inspector.targetCrashed":
                        self.crashed.add(message.get("sessionId", ""))
                self._news.notify_all()
        with self._news:
            self._is_over = True
            self._news.notify_all()

    def ask(
        self, method: str, params: dict[str, Any] | None = None, session: str = ""
    ) -> dict[str, Any]:
        with self._news:
            self._number += 1
            number = self._number
            order = {"id": number, "method": method, "params": params or {}}
            order |= {"sessionId": session} if session else {}
            os.write(self._to, json.dumps(order).encode() + b"\0")
            answered = self._news.wait_for(
                lambda: number in self._answers or self._is_over, _PATIENCE_SECONDS
            )
            assert answered, f"the browser never answered {method}"
            assert number in self._answers, "the browser has ended"
            answer = self._answers.pop(number)
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def tab(self) -> Tab:
        target = self.ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self.ask("Target.attachToTarget", {"targetId": target, "flatten": True})
        tab = Tab(self, attached["sessionId"], target)
        tab.ask("Inspector.enable")
        return tab

    def end(self) -> None:
        with contextlib.suppress(AssertionError, OSError):
            self.ask("Browser.close")  # the net log is whole only after an orderly end
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(10)
        os.close(self._to)
        os.close(self._from)

    def looked_up(self) -> set[str]:
        """Every host name that the browser asked its resolver for. Call after ``end``."""
        log = json.loads(self.net_log.read_text(encoding="utf-8", errors="replace"))
        names = {number: name for name, number in log["constants"]["logEventTypes"].items()}
        found = set()
        for event in log["events"]:
            if names[event["type"]].startswith("HOST_RESOLVER"):
                # "https://name:443", or the bare name.
                host = str(event.get("params", {}).get("host", ""))
                found.add(re.sub(r"^\w+://|:\d+$", "", host))
        return found


@contextlib.contextmanager
def plain_chromium(path: str, folder: Path) -> Iterator[PlainChromium]:
    folder.mkdir(parents=True, exist_ok=True)
    browser = PlainChromium(path, folder)
    try:
        yield browser
    finally:
        browser.end()
