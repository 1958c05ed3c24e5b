"""Where the demo's server listens, and what is said when it cannot."""

import re
import socket

import pytest

from app.demo import run
from app.errors import VitrineError

UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def test_a_taken_port_is_a_sentence() -> None:
    with run.listen(0) as first:
        port = first.getsockname()[1]
        assert not run.port_is_free("127.0.0.1", port)
        for start in (run.serve, run.listen):
            with pytest.raises(VitrineError) as refused:
                start(port)
            assert f"127.0.0.1:{port}" in refused.value.sentence
            assert "VITRINE_DEMO_PORT" in refused.value.sentence
    assert run.port_is_free("127.0.0.1", port)


def test_it_listens_on_the_loopback_address_only() -> None:
    with run.serving(0) as url:
        port = int(url.rsplit(":", 1)[1].split("/")[0])
        assert url == run.server_url(port)
        with socket.create_connection(("127.0.0.1", port), 2):
            pass
        # All of 127/8 reaches this machine: a server on every address would answer here too.
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", port), 2)


def test_it_stops_with_the_block() -> None:
    with run.serving(0) as url:
        port = int(url.rsplit(":", 1)[1].split("/")[0])
    assert run.port_is_free("127.0.0.1", port)


def test_the_sessions_lie_as_each_agent_lays_them_out() -> None:
    folder = run.sessions_folder()
    found = {str(path.relative_to(folder)) for path in folder.rglob("*.jsonl")}
    layouts = [
        rf"claude-code/home-dev-checkout-api/{UUID}\.jsonl",
        rf"codex/(\d{{4}})/(\d\d)/(\d\d)/rollout-\1-\2-\3T\d\d-\d\d-\d\d-{UUID}\.jsonl",
    ]
    for layout in layouts:
        matching = {path for path in found if re.fullmatch(layout, path)}
        assert len(matching) == 1
        found -= matching
    assert not found
