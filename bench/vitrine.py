"""Vitrine under measurement: the commands that people run, each in a process of its own."""

import os
import sqlite3
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx

from app.db.engine import Database
from app.transcripts import session_list
from bench import requests
from bench.measure import Asked, Cost, ask, joined, peak_mb, run
from bench.transcript import write
from e2e.running import vitrine

# Another session, which warms the server up: templates are compiled and highlighters imported once.
_WARM_ENTRIES = 400
_WARM_SEED = 8


def _environment(data: Path) -> Mapping[str, str]:
    own = {"VITRINE_DATA_DIR": str(data)}
    return {key: value for key, value in os.environ.items() if key[:8] != "VITRINE_"} | own


def ingest(transcript: Path, data: Path) -> Cost:
    """``vitrine import``, from an empty folder ``data``."""
    data.mkdir(parents=True)
    command = [sys.executable, "-m", "app.cli", "import", str(transcript)]
    return run(command, _environment(data), data / "import.log")


def stored(data: Path) -> tuple[int, int]:
    """Bytes of the contents, and of everything, after an import."""
    file = data / "vitrine.db"
    connection = sqlite3.connect(file)
    (contents,) = connection.execute("SELECT sum(length(data)) FROM chunks").fetchone()
    connection.close()
    return contents, sum(part.stat().st_size for part in data.glob("vitrine.db*"))


def session_ids(data: Path) -> list[str]:
    """The sessions', the one with the most entries first."""
    database = Database(f"sqlite:///{data}/vitrine.db")
    with database.session() as db:
        rows = session_list.sessions(db).rows
    database.dispose()
    return [row.id for row in sorted(rows, key=lambda row: -row.entry_count)]


def add_warm_session(folder: Path, data: Path) -> None:
    transcript = write(_WARM_ENTRIES, folder / "warm", seed=_WARM_SEED)
    command = [sys.executable, "-m", "app.cli", "import", str(transcript)]
    run(command, _environment(data), data / "import.log")


def _addresses(place: str, page: str, entries: int, number: int) -> list[str]:
    positions = requests.positions(place, entries, number)
    match place:
        case "start":
            return [f"{page}/entries?after=0-{position}" for position in positions]
        case "end":
            return [f"{page}/entries?before=0-{position}" for position in positions]
        case _:
            return [f"{page}?at=0-{position}" for position in positions]


def serve(data: Path, entries: int) -> tuple[dict[str, Asked], float]:
    """Windows by place, searches by words, and the server's peak memory."""
    rounds: list[dict[str, Asked]] = []
    peak = 0.0
    session_id, warm = session_ids(data)
    for _ in range(requests.starts(entries)):
        with vitrine("serve", data) as running, httpx.Client(timeout=60) as client:
            client.base_url = httpx.URL(running.url)
            server = running.process.pid
            client.get(running.link, follow_redirects=True).raise_for_status()
            for path in ("", "/entries", f"/entries?before=0-{_WARM_ENTRIES}"):
                client.get(f"/sessions/{warm}{path}").raise_for_status()
            found = {}
            for place in requests.PLACES:
                page = f"/sessions/{session_id}"
                addresses = _addresses(place, page, entries, requests.windows(entries))
                found[place] = ask(client, server, addresses)
            for words in (*requests.WORDS, *requests.OPERATORS):
                address = str(httpx.URL("/", params={"q": words}))
                client.get("/", params={"q": "warm"})
                found[words] = ask(client, server, [address] * requests.TIMES)
            rounds.append(found)
            peak = max(peak, peak_mb(server))
    return {what: joined([found[what] for found in rounds]) for what in rounds[0]}, peak
