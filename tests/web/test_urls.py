"""Addresses behind a base path, and with hostile parameters."""

import re
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from starlette._utils import get_route_path
from starlette.requests import HTTPConnection
from starlette.testclient import TestClient

from app.db.engine import Database
from app.web.auth import issue_sign_in_link
from app.web.urls import base_path, link, route_path

BASE = "/apps/vitrine"


@pytest.fixture
def based(app: FastAPI, database: Database) -> Iterator[TestClient]:
    """As uvicorn with ``--root-path`` sees it: the base path is in the path, too."""
    with TestClient(app, root_path=BASE, follow_redirects=False) as client:
        answer = client.get(f"{BASE}/sign-in/{issue_sign_in_link(database)}")
        assert answer.headers["location"] == f"{BASE}/"
        assert f"Path={BASE};" in answer.headers["set-cookie"]
        yield client


def test_every_address_of_a_page_has_the_base_path(based: TestClient) -> None:
    for path in ("/", "/outbox", "/settings/mcp-apps", "/settings/servers", "/nowhere"):
        html = based.get(BASE + path).text
        addresses = re.findall(r'(?:href|src|action|hx-get)="([^"#]+)', html)
        assert len(addresses) > 8
        for address in addresses:
            assert address.startswith(f"{BASE}/"), address


def test_the_base_path_is_in_the_policy(based: TestClient) -> None:
    policy = based.get(f"{BASE}/").headers["content-security-policy"]
    assert f"frame-src testserver{BASE}/fragments/; " in policy


def test_redirects_and_refusals_keep_the_base_path(based: TestClient) -> None:
    origin = {"Origin": "http://testserver"}
    form = {"name": "a", "url": "https://a.example/mcp"}
    saved = based.post(f"{BASE}/settings/servers", data=form, headers=origin)
    assert saved.headers["location"] == f"{BASE}/settings/servers?notice=added"
    assert based.post(f"{BASE}/sign-out", headers=origin).headers["location"] == f"{BASE}/sign-in"
    fragment = based.get(f"{BASE}/", headers={"HX-Request": "true"})
    assert fragment.headers["hx-redirect"] == f"{BASE}/sign-in"


def test_under_tls_with_a_base_path_the_cookie_is_not_the_whole_hosts(
    app: FastAPI, database: Database
) -> None:
    with TestClient(
        app, base_url="https://testserver", root_path=BASE, follow_redirects=False
    ) as client:
        cookie = client.get(f"{BASE}/sign-in/{issue_sign_in_link(database)}").headers["set-cookie"]
    assert cookie.startswith("vitrine=")
    assert "; Secure" in cookie


def test_the_open_paths_are_open_with_a_base_path(app: FastAPI) -> None:
    with TestClient(app, root_path=BASE) as client:
        assert client.get(f"{BASE}/healthz").status_code == 200
        assert client.get(f"{BASE}/static/css/app.css").status_code == 200
        assert client.get(f"{BASE}/outbox").status_code == 401


@pytest.mark.parametrize(
    ("root", "expected"),
    [("", ""), ("/", ""), ("/a/", "/a"), ("/a;b,c d'", "/a%3Bb%2Cc%20d%27"), ("/ü", "/%C3%BC")],
)
def test_a_base_path_goes_into_headers_encoded(root: str, expected: str) -> None:
    assert base_path({"root_path": root}) == expected


@given(st.text(alphabet="/ab", max_size=6), st.sampled_from(["", "/a", "/a/b"]))
def test_the_route_path_is_starlettes(path: str, root: str) -> None:
    scope = {"path": path, "root_path": root}
    assert route_path(scope) == get_route_path(scope)


def test_parameters_cannot_leave_their_place(app: FastAPI) -> None:
    connection = HTTPConnection({"type": "http", "app": app, "root_path": ""})
    hostile = "../..//evil?x=1#y%2f&\n\u202e<>\ud800"
    address = link(connection, "session", {"at": hostile, "level": ""}, session_id=hostile)
    assert re.fullmatch(r"/sessions/[A-Za-z0-9_.~%-]+\?at=[A-Za-z0-9_.~%+-]+", address)
