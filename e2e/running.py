"""A real Vitrine, started as people start it: the ``vitrine`` command in a process of its own."""

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from app.db.engine import Database
from app.db.migrate import upgrade
from app.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
_LINK = re.compile(r"http://\S+/sign-in/\S+")
_NO_LINK = "Sign in with your password"
_START_SECONDS = 60


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Running:
    """``url`` is the base address, ``link`` the printed sign-in link, ``output`` what the process
    has written so far. ``link`` is empty where there is a password: none is printed then.
    """

    url: str
    data_dir: Path
    demo_port: int
    process: subprocess.Popen[str]
    output: list[str] = field(default_factory=list)
    link: str = ""

    def assert_nothing_went_wrong(self) -> None:
        """No request has failed in a way that nobody foresaw: the log then holds the place."""
        said = "".join(self.output)
        assert "Traceback (most recent call last)" not in said, said[-6000:]


def prepared(data_dir: Path) -> Database:
    """The database that a ``vitrine serve`` on ``data_dir`` will use, migrated."""
    database = Database(Settings(data_dir=data_dir).effective_database_url)
    upgrade(database.engine)
    return database


@contextmanager
def vitrine(command: str, data_dir: Path, **environment: str) -> Iterator[Running]:
    """``vitrine COMMAND`` on free ports; ends it by its pid."""
    port, demo_port = free_port(), free_port()
    own = {
        "VITRINE_DATA_DIR": str(data_dir),
        "VITRINE_PORT": str(port),
        "VITRINE_DEMO_PORT": str(demo_port),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "app.cli", command],
        cwd=ROOT,
        env={**os.environ, **own, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    running = Running(f"http://127.0.0.1:{port}", data_dir, demo_port, process)
    ready = threading.Event()

    def read() -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                running.output.append(line)
                if found := _LINK.search(line):
                    running.link = found.group()
                if running.link or _NO_LINK in line:
                    ready.set()
        ready.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        ready.wait(_START_SECONDS)
        said = "".join(running.output)
        assert running.link or _NO_LINK in said, f"Vitrine printed no sign-in link:\n{said}"
        yield running
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        reader.join(10)
