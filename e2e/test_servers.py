"""The official servers start, answer, stay on this machine and end."""

import os
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import httpx
import pytest
from mcp import Client

from e2e.official.outside import Outside
from e2e.servers import FOLDER, ServerError, install, official_server
from hatch_build import find_node


def port_of(url: str) -> int:
    port = httpx.URL(url).port
    assert port is not None
    return port


@pytest.fixture(scope="module")
def vanilla() -> Iterator[str]:
    with official_server("basic-vanillajs") as url:
        yield url


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("basic-vanillajs", "get-time"),
        ("budget-allocator", "get-budget-data"),
        ("cohort-heatmap", "get-cohort-data"),
    ],
)
def test_it_answers(name: str, tool: str) -> None:
    async def tools(url: str) -> list[str]:
        async with Client(url) as client:
            return [item.name for item in (await client.list_tools()).tools]

    with official_server(name) as url, ThreadPoolExecutor(1) as pool:
        # In a thread of its own: the browser's driver keeps a loop running in this one.
        assert tool in pool.submit(anyio.run, tools, url).result()


@pytest.mark.parametrize("address", ["127.0.0.2", "::1"])
def test_it_listens_on_127_0_0_1_only(vanilla: str, address: str) -> None:
    """All of 127/8 and ::1 reach this machine: a server on every address answers there too."""
    port = port_of(vanilla)
    with socket.create_connection(("127.0.0.1", port), 2):
        pass
    with pytest.raises(OSError, match=r"refused|Cannot assign|unreachable|not supported"):
        socket.create_connection((address, port), 2)


def test_it_ends_with_the_block() -> None:
    with official_server("basic-vanillajs") as url:
        pass
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port_of(url)), 2)


def test_an_unknown_server_is_a_sentence() -> None:
    with (
        pytest.raises(ServerError, match="has no server called nothing"),
        official_server("nothing"),
    ):
        pass


def test_a_taken_port_is_a_sentence(vanilla: str) -> None:
    port = port_of(vanilla)
    with (
        pytest.raises(ServerError, match=f"Port {port} on 127.0.0.1 is taken"),
        official_server("basic-vanillajs", port=port),
    ):
        pass


def test_a_server_that_ends_at_once_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install()
    script = tmp_path / "@modelcontextprotocol" / "server-broken" / "dist" / "index.js"
    script.parent.mkdir(parents=True)
    script.write_text("console.error('out of paint'); process.exit(3)")
    monkeypatch.setattr("e2e.servers.install", lambda: tmp_path)
    with pytest.raises(ServerError, match="ended with 3:\nout of paint"), official_server("broken"):
        pass


@pytest.mark.parametrize("call", ["listen('/tmp/x.sock')", "listen({path: '/tmp/x.sock'})"])
def test_the_preload_refuses_what_it_cannot_keep_here(call: str) -> None:
    node = find_node()
    preload = (FOLDER / "loopback.mjs").as_uri()
    script = f"import net from 'node:net'; net.createServer().{call}"
    done = subprocess.run(
        [node.node, "--import", preload, "--input-type=module", "-e", script],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "only listening on a port is allowed" in done.stderr


def fetched(url: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """What an official server would get for ``url``: the process that prints it."""
    preload = (FOLDER / "reroute.mjs").as_uri()
    script = f"console.log(await (await fetch({url!r})).text())"
    return subprocess.run(
        [find_node().node, "--import", preload, "--input-type=module", "-e", script],
        env={**os.environ, "VITRINE_STAND_IN": "", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_fetch_from_elsewhere_goes_to_the_stand_in() -> None:
    with Outside() as outside:
        done = fetched("https://elsewhere.example/a?b=1", VITRINE_STAND_IN=outside.url)
    assert done.stdout == "not here\n"
    assert outside.asked == ["elsewhere.example/a?b=1"]


def test_without_a_stand_in_a_fetch_from_elsewhere_fails() -> None:
    done = fetched("https://elsewhere.example/a")
    assert done.returncode == 1
    assert "elsewhere.example is not on this machine" in done.stderr


def test_a_fetch_on_this_machine_stays_as_it_is() -> None:
    with Outside() as outside:
        done = fetched(f"{outside.url}/elsewhere.example/a")
    assert done.stdout == "not here\n"


def test_installing_again_does_nothing() -> None:
    marker: Path = install() / ".vitrine-test-marker"
    marker.touch()
    install()
    assert marker.exists()
    marker.unlink()
