"""Schemathesis over the OpenAPI document: whatever is sent, no route fails in a way that nobody
foresaw, and a stranger learns nothing.
"""

import tempfile
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from schemathesis import Case
from schemathesis.core.result import Ok

from app.main import create_app
from app.settings import Settings
from tests.web.fuzz.conftest import ORIGIN, SECRET, Deployment, may_be_open

EXAMPLES = 25
# Its answer has no end; tests/web/live has its own.
ENDLESS = {"GET /events"}


def operations() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        document = create_app(Settings(data_dir=Path(folder))).openapi()
    schema = schemathesis.openapi.from_dict(document)
    found = {}
    for result in schema.get_all_operations():
        assert isinstance(result, Ok), result
        operation = result.ok()
        found[operation.label] = operation
    return {label: one for label, one in found.items() if label not in ENDLESS}


OPERATIONS = operations()


def test_the_document_holds_every_kind_of_route() -> None:
    assert {
        "GET /sessions/{session_id}",
        "POST /settings/servers",
        "GET /fragments/{token}",
    } <= set(OPERATIONS)


@pytest.mark.parametrize("label", sorted(OPERATIONS))
def test_nothing_fails_unforeseen_and_a_stranger_learns_nothing(
    deployment: Deployment, label: str
) -> None:
    operation = OPERATIONS[label]
    cookies = deployment.sign_in()

    @examples(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def run(case: Case[Any]) -> None:
        request = requests.Request(**_plain(case)).prepare()
        sent: dict[str, Any] = {
            "content": request.body or b"",
            "headers": {**request.headers, **ORIGIN},
        }
        assert request.url is not None
        mine = deployment.ask(case.method, request.url, cookies=cookies, **sent)
        assert mine.status_code < 500, (request.url, sent, mine.text)
        strange = deployment.ask(case.method, request.url, **sent)
        assert strange.status_code < 500, (request.url, sent, strange.text)
        assert SECRET not in strange.text
        assert SECRET not in str(strange.headers)
        if not may_be_open(case.operation.path):
            # 400 and 413 are said before anybody is asked who they are.
            assert strange.status_code in (400, 401, 413), (request.url, strange.status_code)

    run()


def _plain(case: Case[Any]) -> dict[str, Any]:
    made: dict[str, Any] = case.as_transport_kwargs(base_url="http://testserver")
    made.pop("cookies", None)
    return made
