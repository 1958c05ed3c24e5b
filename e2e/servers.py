"""The official MCP Apps example servers, from npm, for the browser tests.

They are installed once into ``e2e/node_modules`` (git-ignored) from the committed lock, with the
Node that the front end is built with, and always kept on 127.0.0.1 by ``loopback.mjs`` and
``reroute.mjs``.
"""

import fcntl
import hashlib
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from hatch_build import Node, find_node

FOLDER = Path(__file__).resolve().parent
MODULES = FOLDER / "node_modules"
START_SECONDS = 60
PRELOADS = [
    option
    for name in ("loopback.mjs", "reroute.mjs")
    for option in ("--import", (FOLDER / name).as_uri())
]
_STAMP = MODULES / ".vitrine-stamp"
_INPUTS = ("package.json", "package-lock.json")


class ServerError(RuntimeError):
    """An official server could not be installed or started; the text says why."""


def _stamp() -> str:
    return hashlib.sha256(b"\0".join((FOLDER / name).read_bytes() for name in _INPUTS)).hexdigest()


def _environment(node: Node) -> dict[str, str]:
    path = os.pathsep.join((str(Path(node.node).parent), os.environ.get("PATH", os.defpath)))
    return {**os.environ, "PATH": path}


def install() -> Path:
    """Install the servers unless that was done from this very lock; gives ``node_modules``.

    Several test runs may do so at once: one installs, the others wait.
    """
    with Path(tempfile.gettempdir(), f"vitrine-e2e-{os.getuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _STAMP.is_file() and _STAMP.read_text() == _stamp():
            return MODULES
        node = find_node()
        done = subprocess.run(
            [*node.npm, "ci", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund"],
            cwd=FOLDER,
            env=_environment(node),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise ServerError(f"npm ci in e2e ended with {done.returncode}:\n{done.stdout.strip()}")
        _STAMP.write_text(_stamp())
    return MODULES


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _taken(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"Accept": "application/json, text/event-stream"}
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise ServerError(f"The server ended with {process.returncode}:\n{log.read_text()}")
        try:
            answer = httpx.post(url, json=listing, headers=accept, timeout=5, trust_env=False)
        except httpx.TransportError:
            time.sleep(0.05)
            continue
        answer.raise_for_status()
        return
    raise ServerError(f"The server did not answer within {START_SECONDS} s:\n{log.read_text()}")


@contextmanager
def official_server(name: str, *args: str, port: int = 0, stand_in: str = "") -> Iterator[str]:
    """Run ``@modelcontextprotocol/server-<name>`` while the block runs; gives its URL.

    ``port`` 0 takes a free one; ``stand_in`` is the address that answers for every other host
    that it fetches from. Raises ``ServerError`` when it does not start.
    """
    script = install() / "@modelcontextprotocol" / f"server-{name}" / "dist" / "index.js"
    if not script.is_file():
        raise ServerError(f"e2e/package.json has no server called {name}.")
    node = find_node()
    port = port or free_port()
    if _taken(port):
        # Else that program's answers would pass for the server's.
        raise ServerError(f"Port {port} on 127.0.0.1 is taken by another program.")
    url = f"http://127.0.0.1:{port}/mcp"
    with tempfile.TemporaryDirectory(prefix="vitrine-server-") as folder:
        log = Path(folder, "log")
        with log.open("wb") as output:
            process = subprocess.Popen(
                [node.node, *PRELOADS, str(script), *args],
                env={**_environment(node), "PORT": str(port), "VITRINE_STAND_IN": stand_in},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            try:
                _wait(process, url, log)
                yield url
            finally:
                process.terminate()
                try:
                    process.wait(5)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
