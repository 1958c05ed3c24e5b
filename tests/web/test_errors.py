"""One error, three forms; and an unexpected one says nothing of its cause."""

import logging

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.errors import VitrineError
from app.web.errors import UNEXPECTED

ORIGIN = {"Origin": "http://testserver"}
SENTENCE = "The <b>lamp</b>\u202e is out."


@pytest.fixture
def failing(app: FastAPI, client: TestClient) -> TestClient:
    @app.get("/known")
    def known() -> None:
        raise VitrineError(409, SENTENCE)

    @app.post("/x/rpc")
    @app.post("/x/message")
    def rpc() -> None:
        raise VitrineError(409, SENTENCE)

    @app.get("/unknown")
    def unknown() -> None:
        raise RuntimeError("the password is hunter2")

    return client


def test_as_a_page(failing: TestClient) -> None:
    answer = failing.get("/known", headers={"Accept": "text/html,application/json;q=0.9"})
    assert answer.status_code == 409
    assert answer.headers["content-type"].startswith("text/html")
    assert "<html" in answer.text
    assert "The &lt;b&gt;lamp&lt;/b&gt;⟨U+202E⟩ is out." in answer.text


def test_as_an_htmx_fragment(failing: TestClient) -> None:
    answer = failing.get("/known", headers={"HX-Request": "true"})
    assert answer.status_code == 409
    assert "<html" not in answer.text
    assert "The &lt;b&gt;lamp&lt;/b&gt;⟨U+202E⟩ is out." in answer.text


def test_as_json(failing: TestClient) -> None:
    expected = {"error": {"code": 409, "message": SENTENCE}}
    assert failing.get("/known", headers={"Accept": "application/json"}).json() == expected
    for path in ("/x/rpc", "/x/message"):
        assert failing.post(path, headers={"Accept": "*/*"}).json() == expected


@pytest.mark.parametrize(
    "headers", [{}, {"HX-Request": "true"}, {"Accept": "application/json"}], ids=str
)
def test_an_unexpected_error_is_logged_whole_and_shown_without_its_cause(
    failing: TestClient, caplog: pytest.LogCaptureFixture, headers: dict[str, str]
) -> None:
    caplog.set_level(logging.ERROR, logger="vitrine")
    answer = failing.get("/unknown", headers=headers)
    assert answer.status_code == 500
    assert UNEXPECTED in answer.text
    assert "hunter2" not in answer.text
    assert "hunter2" in caplog.text
    assert "Traceback" in caplog.text
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; ")


def test_what_is_not_there(client: TestClient) -> None:
    answer = client.get("/nowhere")
    assert answer.status_code == 404
    assert "There is nothing at this address." in answer.text


def test_a_method_that_is_not_there(client: TestClient) -> None:
    answer = client.post("/outbox")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET"


def test_parameters_of_the_wrong_form(client: TestClient) -> None:
    answer = client.get("/?page=<script>")
    assert answer.status_code == 422
    assert "<script>" not in answer.text.replace("<script src=", "")


def test_the_interactive_documentation_is_off(client: TestClient) -> None:
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert client.get(path).status_code == 404
