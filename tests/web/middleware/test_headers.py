"""The headers of every response, and the page's policy to the letter."""

import re
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send

from app.db.engine import Database
from app.web.host import Host
from app.web.middleware.headers import SecurityHeaders, page_policy
from tests.web.auth.test_gate import operations
from tests.web.conftest import ORIGIN
from tests.web.recording import Recording


def test_the_page_policy_is_exactly_this(client: TestClient) -> None:
    assert client.get("/outbox").headers["content-security-policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "form-action 'self'; img-src 'self' data:; base-uri 'none'; "
        "frame-src testserver/fragments/; frame-ancestors 'none'"
    )


def test_the_policy_names_the_fragments_path_of_this_host_and_base_path() -> None:
    assert "frame-src example.org:8443/apps/vitrine/fragments/;" in page_policy(
        Host("example.org", 8443), "/apps/vitrine"
    )


@pytest.mark.parametrize("path", ["/outbox", "/nowhere", "/healthz", "/sign-in"])
def test_every_answer_has_the_headers(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cache-control"] == "private, no-store"
    assert "camera=()" in headers["permissions-policy"]
    # A form's own POST would carry "Origin: null" under no-referrer.
    assert headers["referrer-policy"] == "same-origin"
    assert headers["content-security-policy"].startswith("default-src 'none'; ")


@pytest.mark.parametrize("who", ["visitor", "viewer", "client"])
def test_every_route_there_is_has_the_headers(
    app: FastAPI, who: str, request: pytest.FixtureRequest, database: Database, tmp_path: Path
) -> None:
    """Pages, redirects, fragments of pages, JSON, downloads, static files, and every error."""
    browser: TestClient = request.getfixturevalue(who)
    session_id = (
        Recording().user("Hello").call("mcp__a__b", {}, "x").import_into(database, tmp_path)
    )
    asked = [("GET", "/nowhere"), ("PUT", "/outbox"), ("GET", "/static/nothing.js")]
    asked += [("GET", "/static/css/app.css"), ("GET", "/api/v1/nowhere"), ("GET", "/?page=x")]
    for method, template in operations(app):
        path = template.replace("{session_id}", session_id).replace("{address}", "0-0")
        asked.append((method, re.sub(r"{\w+(:int)?}", "0", path)))
    seen = set()
    # The last one ends the sign-in.
    for method, path in sorted(asked, key=lambda one: one[1] == "/sign-out"):
        for accept in ("text/html", "application/json"):
            for origin in (ORIGIN, {"Origin": "https://evil.example"}):
                answer = browser.request(method, path, headers={"Accept": accept, **origin})
                assert_headers(answer, (method, path))
                seen.add(answer.status_code)
    assert {200, 401, 403, 404} <= seen if who == "client" else {200, 401, 403} <= seen


def assert_headers(answer: Any, what: object) -> None:
    headers = answer.headers
    assert headers["x-content-type-options"] == "nosniff", what
    assert headers["referrer-policy"] in ("same-origin", "no-referrer"), what
    assert headers["cross-origin-opener-policy"] == "same-origin", what
    assert headers["cross-origin-resource-policy"] == "same-origin", what
    assert headers["x-dns-prefetch-control"] == "off", what
    assert "camera=()" in headers["permissions-policy"], what
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy, what
    assert "unsafe" not in policy, what
    # The trial of a browser is framed by Vitrine's own pages.
    own = "frame-ancestors 'self'" in policy and "/fragments/confinement" in str(answer.url)
    assert own or "frame-ancestors 'none'" in policy or policy.startswith("sandbox;"), what
    private = headers["cache-control"] == "private, no-store"
    assert private or headers["cache-control"] in (
        "no-cache",
        "public, max-age=31536000, immutable",
    )
    assert private or "/static/" in str(answer.url), what
    for name in ("access-control-allow-origin", "server", "x-powered-by"):
        assert name not in headers, what


def test_a_page_gives_its_frames_nothing(client: TestClient) -> None:
    policy = client.get("/outbox").headers["permissions-policy"]
    assert policy.startswith("geolocation=(), clipboard-write=(self), ")


def test_static_files_may_be_kept_only_by_their_hash(client: TestClient) -> None:
    page = client.get("/outbox").text
    address = page.split('rel="stylesheet" href="')[1].split('"')[0]
    assert client.get(address).headers["cache-control"] == "public, max-age=31536000, immutable"
    assert client.get("/static/css/app.css").headers["cache-control"] == "no-cache"
    assert client.get("/static/css/app.css?v=0").headers["cache-control"] == "no-cache"


def test_a_policy_of_the_response_itself_stays() -> None:
    def fragment(_scope: Scope) -> ASGIApp:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            own = {
                "Content-Security-Policy": "sandbox allow-scripts",
                "Referrer-Policy": "no-referrer",
            }
            await Response("x", headers=own)(scope, receive, send)

        return app

    headers = TestClient(SecurityHeaders(fragment({}))).get("/").headers
    assert headers.get_list("content-security-policy") == ["sandbox allow-scripts"]
    assert headers["referrer-policy"] == "no-referrer"
    # A frame of ours must be able to hold it.
    assert "x-frame-options" not in headers
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example; script-src *",
        "a,b",
        "a b",
        "user@host",
        "host:0",
        "host:65536",
        "host:8x",
        "host/path",
        "*.example",
        "-a.example",
        "a..b",
        "host.",
        "'self'",
        "a%3bb",
        "[::1",
        "x" * 300,
        "",
    ],
)
def test_a_host_that_could_speak_in_the_policy_is_refused(client: TestClient, host: str) -> None:
    answer = client.get("/outbox", headers={"Host": host})
    assert answer.status_code == 400
    assert answer.headers["content-security-policy"] == (
        "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"
    )
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("localhost", "localhost"),
        ("127.0.0.1:8420", "127.0.0.1:8420"),
        ("Vitrine.Example.ORG:443", "vitrine.example.org:443"),
        ("my_host", "my_host"),
        ("[::1]:8420", "[::1]:8420"),
    ],
)
def test_a_plain_host_goes_into_the_policy(client: TestClient, host: str, shown: str) -> None:
    policy = client.get("/healthz", headers={"Host": host}).headers["content-security-policy"]
    assert f"frame-src {shown}/fragments/;" in policy


async def test_two_hosts_are_refused() -> None:
    sent = []

    async def inner(*_: object) -> None:
        raise AssertionError("it passed")

    async def receive() -> dict[str, object]:
        return {"type": "http.request"}

    async def send(message: object) -> None:
        sent.append(message)

    headers = [(b"host", b"a"), (b"host", b"b"), (b"accept", b"application/json")]
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": headers}
    await SecurityHeaders(inner)(scope, receive, send)
    assert sent[0]["status"] == 400  # type: ignore[index]
    assert Request(scope).headers.getlist("host") == ["a", "b"]
