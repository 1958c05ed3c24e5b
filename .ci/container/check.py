"""Run inside a container of the image: what it promises, tried. Prints one line a promise."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path

UID = 10001
START_SECONDS = 60
# Where a program of the image could lie; /proc and /sys are no part of it.
FOLDERS = ("/opt", "/usr", "/bin", "/sbin", "/lib", "/root", "/home", "/srv")
WANTED_NOWHERE = {"node", "npm", "npx", "esbuild", "gcc"}


class BrokenPromiseError(Exception):
    """What is not as it should be, in a sentence."""


def promise(what: str, kept: bool) -> None:
    sys.stdout.write(f"{'ok' if kept else 'BROKEN'}: {what}\n")
    if not kept:
        raise BrokenPromiseError(what)


def programs() -> Iterator[Path]:
    for folder in FOLDERS:
        for path, _, names in os.walk(folder):
            yield from (Path(path, name) for name in names if name in WANTED_NOWHERE)


def fetch(port: int, path: str) -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def wait_for(process: "subprocess.Popen[bytes]", port: int) -> tuple[int, bytes]:
    """The first answer of ``/healthz``."""
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            return fetch(port, "/healthz")
        except (OSError, HTTPException):
            time.sleep(0.1)
    raise BrokenPromiseError("Vitrine did not start")


def check_image() -> None:
    promise(f"it runs as user {UID}, not root", os.getuid() == UID and os.geteuid() == UID)
    promise("its data folder is /data", os.environ.get("VITRINE_DATA_DIR") == "/data")
    promise("it listens on every address", os.environ.get("VITRINE_HOST") == "0.0.0.0")  # noqa: S104
    code = Path(shutil.which("vitrine") or "/nowhere").resolve().parent.parent
    promise("its own code is on PATH and cannot be changed", not os.access(code, os.W_OK))
    found = sorted(map(str, programs()))
    promise(f"no build tool is in it: {', '.join(found) or 'none found'}", not found)


def check_server(log: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    # An engine that shares the machine's network must not serve to others meanwhile.
    own = {"VITRINE_HOST": "127.0.0.1", "VITRINE_PORT": str(port)}
    with log.open("wb") as out:
        process = subprocess.Popen(
            ["vitrine", "serve"],  # noqa: S607
            env={**os.environ, **own},
            stdout=out,
            stderr=out,
        )
    try:
        status, body = wait_for(process, port)
        promise("/healthz answers 200", (status, body) == (200, b'{"status":"ok"}'))
        status, body = fetch(port, "/static/dist/htmx.js")
        promise("the front end is built in", status == 200 and b"htmx" in body)
        promise("a sign-in link is printed at once", b"/sign-in/" in log.read_bytes())
        promise("the database lies in /data", Path("/data/vitrine.db").is_file())
    finally:
        process.send_signal(signal.SIGTERM)
        ended = process.wait(30)
    promise("it ends when it is told to", ended in (0, -signal.SIGTERM))


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        try:
            check_image()
            check_server(log)
        except BrokenPromiseError as error:
            sys.stderr.write(f"{error}\n" + (log.read_text() if log.exists() else ""))
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
