"""The event stream as a browser reads it, and what arrives over it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from app.web.live import routes
from tests.support.scripted import tool
from tests.web.live.conftest import Live

STREAM = "s" * 22
CALL = "c" * 16
TOOLS = {
    "tools": [
        tool("show_capacity", visibility=["model", "app"]),
        tool("wait", view=False, visibility=["app"]),
    ]
}


@dataclass
class Sent:
    name: str
    data: Any
    id: str | None


@dataclass
class Reader:
    """Server-sent events, parsed as the HTML standard says."""

    lines: Iterator[str]
    response: httpx.Response
    seen: list[Sent] = field(default_factory=list)

    def next(self, *names: str) -> Sent:
        """The next event, or the next one called so."""
        while True:
            event = self._event()
            self.seen.append(event)
            if not names or event.name in names:
                return event

    def _event(self) -> Sent:
        parts: dict[str, str] = {}
        for line in self.lines:
            if line == "" and parts:
                return Sent(
                    parts.get("event", "message"), json.loads(parts["data"]), parts.get("id")
                )
            if line and not line.startswith(":"):
                name, _, value = line.partition(":")
                parts[name] = value.removeprefix(" ")
        raise EOFError


@contextmanager
def reading(
    client: httpx.Client, stream: str = STREAM, after: str | None = None
) -> Iterator[Reader]:
    headers = {} if after is None else {"Last-Event-ID": after}
    with client.stream("GET", "/events", params={"stream": stream}, headers=headers) as response:
        assert response.status_code == 200, response.read()
        yield Reader(response.iter_lines(), response)


@pytest.fixture
def held(live: Live) -> Iterator[threading.Event]:
    """A tool ``wait`` that answers when the event is set."""
    release = threading.Event()

    def wait(params: dict[str, Any]) -> dict[str, Any]:
        release.wait(30)
        return {"content": [{"type": "text", "text": params["name"]}]}

    live.server.answers.update({"tools/list": TOOLS, "tools/call": wait})
    yield release
    release.set()


def test_the_stream_says_that_it_is_open(live: Live) -> None:
    with reading(live.client) as reader:
        assert reader.response.headers["content-type"].startswith("text/event-stream")
        assert reader.response.headers["cache-control"] == "no-cache"
        assert reader.next() == Sent("open", {"known": False}, None)


@pytest.mark.usefixtures("held")
def test_a_quick_answer_needs_no_stream(live: Live) -> None:
    with reading(live.client) as reader:
        reader.next("open")
        answer = live.rpc("tools/list", call=CALL, stream=STREAM)
    assert answer.status_code == 200
    assert [found["name"] for found in answer.json()["result"]["tools"]] == [
        "show_capacity",
        "wait",
    ]


def test_a_long_answer_comes_over_the_stream(live: Live, held: threading.Event) -> None:
    with reading(live.client) as reader:
        reader.next("open")
        accepted = live.rpc("tools/call", {"name": "wait"}, call=CALL, stream=STREAM)
        assert (accepted.status_code, accepted.content) == (202, b"")
        held.set()
        event = reader.next("answer")
    assert event.data == {"call": CALL, "result": {"content": [{"type": "text", "text": "wait"}]}}
    assert event.id == "1"


def test_what_was_missed_comes_when_the_reader_is_back(live: Live, held: threading.Event) -> None:
    with reading(live.client) as reader:
        reader.next("open")
        live.rpc("tools/call", {"name": "wait"}, call=CALL, stream=STREAM)
    held.set()
    with reading(live.client, after="0") as reader:
        assert reader.next().data == {"known": True}
        assert reader.next("answer").data["call"] == CALL


def test_after_a_restart_the_stream_is_not_known(live: Live) -> None:
    with reading(live.client, after="17") as reader:
        assert reader.next().data == {"known": False}


def test_somebody_elses_stream_is_refused(live: Live, held: threading.Event) -> None:
    with reading(live.client) as reader, live.another() as other:
        reader.next("open")
        answer = other.get("/events", params={"stream": STREAM})
        assert answer.status_code == 409
        # Nor does an answer go there: without a stream of their own they wait for it.
        held.set()
        body = {"method": "tools/call", "params": {"name": "wait"}, "call": CALL, "stream": STREAM}
        got = other.post(f"{live.base}/rpc", params={"at": live.at}, json=body)
        assert got.status_code == 200
        assert got.json()["result"]["content"]


@pytest.mark.parametrize("stream", ["", "short", "s" * 65, "ü" * 22, "s" * 22 + "\n"])
def test_a_stream_needs_an_id_that_nobody_guesses(client: TestClient, stream: str) -> None:
    assert client.get("/events", params={"stream": stream}).status_code == 422


def test_nobody_listens_without_a_sign_in(visitor: TestClient) -> None:
    answer = visitor.get(
        "/events", params={"stream": STREAM}, headers={"Accept": "text/event-stream"}
    )
    assert answer.status_code == 401


def test_a_call_is_cancelled_at_the_server(live: Live, held: threading.Event) -> None:
    with reading(live.client) as reader:
        reader.next("open")
        assert live.rpc("tools/call", {"name": "wait"}, call=CALL, stream=STREAM).status_code == 202
        cancelled = live.client.post(f"{live.base}/cancel", json={"call": CALL})
        assert cancelled.status_code == 204
        for _ in range(500):
            if live.server.count("notifications/cancelled"):
                break
            threading.Event().wait(0.02)
        assert live.server.count("notifications/cancelled") == 1
        held.set()
        # The next answer on the stream is another call's.
        again = "d" * 16
        assert (
            live.rpc("tools/call", {"name": "wait"}, call=again, stream=STREAM).status_code == 200
        )
    assert [event.name for event in reader.seen] == ["open"]


@pytest.mark.usefixtures("held")
def test_nobody_cancels_a_call_of_somebody_else(live: Live) -> None:
    with reading(live.client) as reader, live.another() as other:
        reader.next("open")
        live.rpc("tools/call", {"name": "wait"}, call=CALL, stream=STREAM)
        assert other.post(f"{live.base}/cancel", json={"call": CALL}).status_code == 204
        assert len(live.app.state.long_calls) == 1


def test_a_page_that_closes_ends_what_it_waits_for(live: Live, held: threading.Event) -> None:
    with pytest.raises(httpx.ReadTimeout):
        live.client.post(
            f"{live.base}/rpc",
            params={"at": live.at},
            json={"method": "tools/call", "params": {"name": "wait"}},
            timeout=2,
        )
    for _ in range(500):
        if len(live.app.state.long_calls) == 0:
            break
        threading.Event().wait(0.02)
    assert len(live.app.state.long_calls) == 0
    assert not held.is_set()


def test_signing_out_ends_the_stream(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "CHECK_SECONDS", 0.1)
    with reading(live.client) as reader:
        reader.next("open")
        assert live.client.post("/sign-out").status_code == 303
        with pytest.raises(EOFError):
            reader.next()
    assert len(live.app.state.streams) == 0
