"""What a page of another site, or a view, may make a signed-in browser ask for."""

import pytest
from starlette.testclient import TestClient

STREAM = "/events?stream=ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def asked(client: TestClient, path: str, site: str, mode: str, dest: str) -> int:
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
    return client.get(path, headers=headers).status_code


@pytest.mark.parametrize("site", ["cross-site", "same-site", "odd"])
@pytest.mark.parametrize(
    ("mode", "dest"),
    [
        ("cors", "empty"),  # fetch, EventSource
        ("no-cors", "image"),
        ("no-cors", "script"),
        ("no-cors", "style"),
        ("navigate", "iframe"),
        ("navigate", "object"),
        ("navigate", "embed"),
        ("websocket", "websocket"),
        ("odd", "odd"),
    ],
)
def test_another_site_gets_nothing_out_of_a_signed_in_browser(
    client: TestClient, site: str, mode: str, dest: str
) -> None:
    for path in ("/", "/outbox", STREAM, "/healthz", "/static/css/app.css"):
        assert asked(client, path, site, mode, dest) == 403, path


def test_a_link_from_anywhere_leads_to_a_page(client: TestClient) -> None:
    assert asked(client, "/outbox", "cross-site", "navigate", "document") == 200


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_our_own_pages_and_the_person_may_ask_for_all(client: TestClient, site: str) -> None:
    assert asked(client, "/outbox", site, "cors", "empty") == 200
    assert asked(client, "/static/css/app.css", site, "no-cors", "style") == 200


def test_a_browser_that_says_nothing_is_served(client: TestClient) -> None:
    assert client.get("/outbox").status_code == 200


def test_the_refusal_is_a_page_with_the_headers_of_all(client: TestClient) -> None:
    answer = client.get("/", headers={"Sec-Fetch-Site": "cross-site", "Accept": "text/html"})
    assert "Another site’s page asked for this." in answer.text
    assert answer.headers["x-frame-options"] == "DENY"
