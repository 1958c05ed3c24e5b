"""Bodies larger than the setting are not read, whether or not they say how large they are."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from app.settings import Settings

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def chunks(size: int) -> Iterator[bytes]:
    yield b"name="
    for _ in range(size // 512):
        yield b"x" * 512


def test_a_declared_length_is_refused(client: TestClient, settings: Settings) -> None:
    body = b"x" * (settings.request_max_bytes + 1)
    answer = client.post("/settings/servers", content=body, headers=FORM)
    assert answer.status_code == 413
    assert "larger than this server takes" in answer.text


def test_a_chunked_body_is_counted(client: TestClient, settings: Settings) -> None:
    body = chunks(settings.request_max_bytes * 2)
    answer = client.post("/settings/servers", content=body, headers=FORM)
    assert answer.status_code == 413
    assert "larger than this server takes" in answer.text


def test_a_body_within_the_limit_is_read(client: TestClient, settings: Settings) -> None:
    answer = client.post(
        "/settings/servers", content=chunks(settings.request_max_bytes // 2), headers=FORM
    )
    assert answer.status_code == 400  # the registry's answer to such a name


@pytest.mark.parametrize("length", ["-1", "1e9", "x", "+5", "٣"])
def test_a_length_that_is_no_number_is_refused(client: TestClient, length: str) -> None:
    headers = {**FORM, "Content-Length": length.encode()}
    answer = client.post("/settings/servers", content=b"", headers=headers)  # type: ignore[arg-type]
    assert answer.status_code == 400


def test_an_endless_number_is_refused(client: TestClient) -> None:
    answer = client.post(
        "/settings/servers", content=b"", headers={**FORM, "Content-Length": "9" * 5000}
    )
    assert answer.status_code == 413
