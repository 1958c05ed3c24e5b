"""The document by which a browser shows how far it keeps a view in."""

from starlette.testclient import TestClient

from app.mcp_apps import csp


def test_it_has_the_views_own_header_and_nothing_else_that_refuses(client: TestClient) -> None:
    answer = client.get("/fragments/confinement")
    assert answer.text == "<!doctype html>"
    header = "connection-allowlist"
    assert answer.headers[header] == csp.build(None).headers["Connection-Allowlist"]
    policy = answer.headers["content-security-policy"]
    assert "connect-src 'self'" in policy
    assert "sandbox" not in policy  # the page reaches into it
    assert "frame-ancestors 'self'" in policy


def test_it_needs_a_sign_in(visitor: TestClient) -> None:
    assert visitor.get("/fragments/confinement").status_code == 401
