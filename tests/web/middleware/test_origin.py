"""Cross-site request forgery: each header that a browser may send, and each it may leave out."""

import pytest
from sqlmodel import select
from starlette.datastructures import Headers
from starlette.testclient import TestClient
from starlette.types import Message

from app.db import tables
from app.db.engine import Database
from app.web.host import parse_host
from app.web.middleware.origin import OriginCheck, is_own, same_origin

HOST = "example.org:8420"
OWN = "http://example.org:8420"


def own(scheme: str = "http", host: str = HOST, **headers: str) -> bool:
    parsed = parse_host(host)
    assert parsed is not None
    raw = {name.replace("_", "-"): value for name, value in headers.items()}
    return is_own(Headers(raw), parsed, scheme)


def test_our_own_page_may_act() -> None:
    assert own(origin=OWN)
    assert own(origin=OWN, sec_fetch_site="same-origin")
    assert own(sec_fetch_site="same-origin")
    assert own(origin=OWN, sec_fetch_site="none")


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://evil.example",
        "http://example.org",
        "http://example.org:8421",
        "http://sub.example.org:8420",
        "http://example.org.evil.example:8420",
        "http://example.org:8420.evil.example",
        "http://evil.example#http://example.org:8420",
        "http://example.org:8420@evil.example",
        "http://evil.example/http://example.org:8420",
        "http://example.org:8420 http://evil.example",
        "http://example.org:8420/",
        "http://example.org:08420x",
        "ws://example.org:8420",
        "file://example.org:8420",
        "example.org:8420",
    ],
)
def test_any_other_origin_is_refused(origin: str) -> None:
    assert not own(origin=origin)
    # Nor does the other header help it.
    assert not own(origin=origin, sec_fetch_site="same-origin")


@pytest.mark.parametrize("site", ["cross-site", "same-site", "Same-Origin", "", "x"])
def test_any_other_fetch_site_is_refused(site: str) -> None:
    assert not own(sec_fetch_site=site)
    assert not own(origin=OWN, sec_fetch_site=site)


def test_silence_is_refused() -> None:
    assert not own()
    assert not own(sec_fetch_site="none")
    assert not own(referer=OWN + "/")


def test_two_origins_are_refused() -> None:
    host = parse_host(HOST)
    assert host is not None
    raw = [(b"origin", OWN.encode()), (b"origin", OWN.encode())]
    assert not is_own(Headers(raw=raw), host, "http")


def test_default_ports_may_be_left_out() -> None:
    assert own(host="example.org", origin="http://example.org")
    assert own(host="example.org:80", origin="http://example.org")
    assert own(host="example.org", scheme="https", origin="https://example.org")
    assert own(host="example.org:443", scheme="https", origin="https://example.org")
    assert not own(host="example.org:443", origin="http://example.org")


def test_case_of_a_host_does_not_matter() -> None:
    assert own(host="EXAMPLE.org:8420", origin="http://Example.ORG:8420")


def test_https_ended_by_a_silent_proxy_is_taken_but_never_the_reverse() -> None:
    host = parse_host("example.org")
    assert host is not None
    assert same_origin("https://example.org", host, "http")
    assert not same_origin("http://example.org", host, "https")


@pytest.mark.parametrize("headers", [{}, {"Origin": "null"}, {"Origin": "http://evil.example"}])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_every_unsafe_method_is_checked_before_anything_happens(
    client: TestClient, database: Database, method: str, headers: dict[str, str]
) -> None:
    del client.headers["Origin"]
    answer = client.request(
        method,
        "/settings/servers",
        data={"name": "x", "url": "https://example.org/mcp"},
        headers=headers,
    )
    assert answer.status_code == 403
    with database.session() as db:
        assert db.exec(select(tables.Server)).all() == []


def test_the_check_comes_before_the_sign_in_is_looked_at(visitor: TestClient) -> None:
    assert visitor.post("/sign-out").status_code == 403


def test_a_page_may_be_opened_from_anywhere(client: TestClient) -> None:
    headers = {
        "Origin": "http://evil.example",
        "Sec-Fetch-Site": "cross-site",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Dest": "document",
    }
    assert client.get("/outbox", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://testserver:8421"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://testserver", "Sec-Fetch-Site": "cross-site"},
    ],
)
def test_another_sites_page_opens_no_stream(client: TestClient, headers: dict[str, str]) -> None:
    del client.headers["Origin"]
    # Without the name of a stream, which would never end: it is refused before that is missed.
    answer = client.get("/events", headers=headers)
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    "headers",
    [{}, {"Origin": "http://testserver"}, {"Sec-Fetch-Site": "same-origin"}],
)
def test_our_own_page_may_listen(client: TestClient, headers: dict[str, str]) -> None:
    del client.headers["Origin"]
    # Without a name there is no stream that would never end: the check has let it pass.
    assert client.get("/events", headers=headers).status_code == 422


@pytest.mark.parametrize(
    ("origin", "passes"),
    [
        (b"http://testserver", True),
        (b"https://evil.example", False),
        (b"null", False),
        (None, False),
    ],
)
async def test_a_websocket_is_opened_from_our_own_pages_only(
    origin: bytes | None, passes: bool
) -> None:
    sent: list[Message] = []
    passed = []

    async def inner(*_: object) -> None:
        passed.append(True)

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"host", b"testserver"), *([(b"origin", origin)] if origin else [])]
    scope = {"type": "websocket", "scheme": "ws", "path": "/x", "headers": headers}
    await OriginCheck(inner)(scope, receive, send)
    assert passed == ([True] if passes else [])
    assert sent == ([] if passes else [{"type": "websocket.close", "code": 1008}])


def test_a_cookie_alone_changes_nothing(client: TestClient, database: Database) -> None:
    """What a form on a site that shares ours sends, SameSite or not, with each way to encode it."""
    del client.headers["Origin"]
    for media in ("text/plain", "application/x-www-form-urlencoded", "application/json"):
        answer = client.post(
            "/settings/people",
            content=b"name=mallory&role=operator",
            headers={"Content-Type": media, "Sec-Fetch-Site": "same-site"},
        )
        assert answer.status_code == 403
    with database.session() as db:
        assert [user.name for user in db.exec(select(tables.User))] == ["operator"]
