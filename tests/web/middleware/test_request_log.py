"""What the log holds of a request, and what it never holds."""

import logging

import pytest
from starlette.testclient import TestClient

from app.db.engine import Database
from app.web.auth import issue_sign_in_link


def test_a_request_is_one_line_with_its_route(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="vitrine")
    client.get("/sessions/0123?level=verbose&at=secret")
    line = caplog.messages[-1]
    assert line.startswith("method=GET route=/sessions/{session_id} status=")
    assert "0123" not in line
    assert "secret" not in line


@pytest.mark.parametrize("path", ["/sign-in/{}", "/fragments/{}", "/nowhere/{}"])
def test_no_address_reaches_the_log(
    visitor: TestClient, database: Database, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    caplog.set_level(logging.DEBUG, logger="vitrine")
    token = issue_sign_in_link(database)
    for _ in ("good", "used"):
        visitor.get(path.format(token), headers={"Referer": f"http://testserver/{token}"})
    assert len(caplog.messages) >= 2
    assert token not in caplog.text


def test_a_path_with_line_breaks_adds_no_line(
    visitor: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="vitrine")
    visitor.get("/x%0d%0amethod=GET%20route=/forged%20status=200")
    assert "forged" not in caplog.text


def test_the_files_of_a_page_are_not_logged(
    visitor: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="vitrine")
    assert visitor.get("/static/css/app.css").status_code == 200
    assert caplog.messages == []
    visitor.get("/sign-in")
    assert len(caplog.messages) == 1
