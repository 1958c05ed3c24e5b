"""How long a line takes from the agent's file to the page: a watched folder, a real Chromium."""

import json
import random
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page, sync_playwright

import hatch_build
from bench.vitrine import session_ids
from e2e.conftest import chromium_path
from e2e.pages import sign_in
from e2e.running import ROOT, vitrine

_TIMES: Final = 40
_WARM: Final = 3
_PATIENCE_MS: Final = 30_000

# Both clocks are this machine's. The answer is awaited later: the line is written in between.
_EXPECT_ROW: Final = """([text, patience]) => {
    window.rowCame = new Promise((resolve, reject) => {
        const look = () => {
            const rows = [...document.querySelectorAll(".row-assistant .prose")].slice(-5);
            if (!rows.some((row) => row.textContent.includes(text))) return;
            watcher.disconnect();
            resolve(performance.timeOrigin + performance.now());
        };
        const watcher = new MutationObserver(look);
        watcher.observe(document.body, { childList: true, subtree: true });
        setTimeout(() => reject(new Error(`${text} never came`)), patience);
    });
    window.rowCame.catch(() => {});
}"""


@dataclass(frozen=True, slots=True)
class Delay:
    """In milliseconds."""

    p50: float
    p95: float


def _last_line(transcript: Path) -> dict[str, Any]:
    with transcript.open("rb") as file:
        file.seek(-min(transcript.stat().st_size, 1_000_000), 2)
        found: dict[str, Any] = json.loads(file.read().splitlines()[-1])
    return found


def _answer(before: dict[str, Any], number: int, text: str) -> dict[str, Any]:
    """The agent's next line: an answer to the line ``before``."""
    message = {
        "id": f"msg_bench{number:04}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
    }
    kept = {key: value for key, value in before.items() if key not in ("toolUseResult", "message")}
    return kept | {
        "type": "assistant",
        "uuid": f"00000000-0000-4000-8000-{number:012}",
        "parentUuid": before["uuid"],
        "requestId": f"req_bench{number:04}",
        "message": message,
    }


def _delays(page: Page, transcript: Path) -> list[float]:
    pause = random.Random(7)
    line = _last_line(transcript)
    delays = []
    for number in range(_WARM + _TIMES):
        text = f"appended line {number} of the measurement"
        line = _answer(line, number, text)
        written = json.dumps(line).encode() + b"\n"
        page.evaluate(_EXPECT_ROW, [text, _PATIENCE_MS])
        with transcript.open("ab") as file:
            start = time.time()
            file.write(written)
        came = page.evaluate("() => window.rowCame")
        if number >= _WARM:
            delays.append(came - start * 1000)
        # At no fixed distance: it could fall in step with a timer.
        page.wait_for_timeout(pause.uniform(50, 300))
    return delays


def delay(transcript: Path, data: Path) -> Delay:
    """``transcript`` was imported into ``data``; it grows by this."""
    hatch_build.build(ROOT)
    session_id = session_ids(data)[0]
    watched = str(transcript.parent.parent)
    with vitrine("serve", data, VITRINE_WATCH=watched) as running, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=chromium_path(), args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            page = chromium.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(_PATIENCE_MS)
            sign_in(page, running)
            page.goto(f"{running.url}/sessions/{session_id}")
            delays = _delays(page, transcript)
        finally:
            chromium.close()
    return Delay(statistics.median(delays), statistics.quantiles(delays, n=20)[-1])
