"""The two programs that Vitrine is measured beside, in a virtual environment of their own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx

from bench import requests
from bench.measure import Asked, Cost, ask, peak_mb, run, wait_for
from e2e.running import free_port

AGENTSVIEW: Final = "agentsview"
CLAUDE_CODE_LOG: Final = "claude-code-log"
_VERSIONS: Final = {AGENTSVIEW: "0.46.1", CLAUDE_CODE_LOG: "1.7.0"}
_PROJECT: Final = Path(".claude/projects/-home-dev-project")


def installed() -> Path:
    """The virtual environment that `VITRINE_BENCH_VENV` names, or one in the person's cache
    folder, with both programs in it.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    venv = Path(os.environ.get("VITRINE_BENCH_VENV") or cache / "vitrine-bench")
    wanted = [f"{name}=={version}" for name, version in _VERSIONS.items()]
    stamp = venv / ".peers"
    if not stamp.is_file() or stamp.read_text().split() != wanted:
        print(f"Installing {' and '.join(wanted)} into {venv} (once)", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        pip = [str(venv / "bin" / "python"), "-m", "pip", "-q", "--no-input", "install"]
        subprocess.run([*pip, "--disable-pip-version-check", *wanted], check=True)
        stamp.write_text("\n".join(wanted))
    return venv / "bin"


def _alone(home: Path) -> dict[str, str]:
    """An environment in which a peer finds nothing but ``home``, and tells nobody about it."""
    return {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "DO_NOT_TRACK": "1",
        "AGENTSVIEW_TELEMETRY_ENABLED": "0",
        "AGENTSVIEW_DISABLE_UPDATE_CHECK": "1",
        "AGENTSVIEW_NO_BROWSER": "1",
    }


def _at_home(home: Path, transcript: Path) -> Path:
    folder = home / _PROJECT
    folder.mkdir(parents=True)
    shutil.copy(transcript, folder)
    return folder


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


class AgentsView:
    def __init__(self, programs: Path, home: Path) -> None:
        self._program = str(programs / AGENTSVIEW)
        self._home = home

    def ingest(self, transcript: Path) -> tuple[Cost, int]:
        """What its import costs, and the bytes that it stores."""
        _at_home(self._home, transcript)
        environment = _alone(self._home) | {"AGENTSVIEW_NO_DAEMON": "1"}
        cost = run([self._program, "sync"], environment, self._home / "sync.log")
        return cost, _size(self._home / ".agentsview")

    @contextmanager
    def _served(self) -> Iterator[tuple[httpx.Client, int]]:
        port = free_port()
        command = [self._program, "serve", "--no-browser", "--no-sync", "--no-update-check"]
        with (self._home / "serve.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, "--port", str(port)], env=_alone(self._home), stdout=log, stderr=log
            )
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=60) as client:
                wait_for(client, "/sessions", process)
                yield client, process.pid
        finally:
            process.terminate()
            process.wait()

    def serve(self, entries: int) -> tuple[dict[str, Asked], float]:
        """Windows as JSON by place, searches of its index by words and of the contents by
        ``contents`` and words, and the server's peak memory.
        """
        found: dict[str, Asked] = {}
        with self._served() as (client, server):
            (session,) = client.get("/sessions").json()["sessions"]
            page = f"/sessions/{session['id']}/messages"
            client.get(f"{page}?from=0&limit=1").raise_for_status()  # warm, as Vitrine is
            for place in requests.PLACES:
                length = session["message_count"]
                positions = requests.positions(place, length, requests.windows(entries))
                back = requests.ROWS if place == "end" else 0
                addresses = [f"{page}?from={at - back}&limit={requests.ROWS}" for at in positions]
                found[place] = ask(client, server, addresses)
            for words in requests.WORDS:
                by_index = str(httpx.URL("/search", params={"q": words}))
                found[words] = ask(client, server, [by_index] * requests.TIMES)
                plain = words.strip('"')
                through = str(httpx.URL("/search/content", params={"pattern": plain}))
                found[f"contents {words}"] = ask(client, server, [through] * requests.TIMES)
            return found, peak_mb(server)


def claude_code_log(programs: Path, home: Path, transcript: Path) -> tuple[Cost, int]:
    """What its conversion to one HTML page costs, and the bytes that it stores: its cache too."""
    folder = _at_home(home, transcript)
    source = _size(home)
    command = [str(programs / CLAUDE_CODE_LOG), str(folder), "--no-individual-sessions"]
    cost = run(command, _alone(home), home / "convert.log")
    (home / "convert.log").unlink()
    return cost, _size(home) - source
