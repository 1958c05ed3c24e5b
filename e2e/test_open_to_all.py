"""Started on every address with nothing configured, nobody gets in without the link from the log:
over real sockets, from the addresses that this machine has.
"""

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi.routing import iter_route_contexts
from playwright.sync_api import Browser, expect
from starlette.routing import Mount

from app.main import create_app
from app.settings import Settings
from e2e.pages import PATIENCE_MS
from e2e.running import Running, prepared, vitrine
from tests.web.recording import Recording

SECRET = "zs3cr3tword"
EVERY_ADDRESS = "0.0.0.0"
OPEN = {"/healthz", "/sign-in", "/sign-in/{token}"}
# What somebody tries who has read the documentation, and what never was one of ours.
CLAIMS: list[dict[str, str]] = [
    {},
    {"Remote-User": "operator"},
    {"X-Forwarded-User": "operator", "X-Forwarded-For": "127.0.0.1"},
    {"Authorization": "Bearer vitrine_" + "A" * 43},
    {"Authorization": "Basic b3BlcmF0b3I6"},
    {"Cookie": "vitrine=operator; vitrine-8420=operator"},
    {"Accept": "application/json", "HX-Request": "true"},
]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("open")
    database = prepared(folder)
    Recording(folder=f"/home/dev/{SECRET}").user(SECRET).import_into(database, folder)
    database.dispose()
    with vitrine("serve", folder, VITRINE_HOST=EVERY_ADDRESS, VITRINE_ALLOWED_HOSTS="") as started:
        yield started
        started.assert_nothing_went_wrong()


def addresses(running: Running) -> list[str]:
    """Loopback, and what this machine is reached at from others, where it is reached."""
    port = running.url.rpartition(":")[2]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
            outer = [str(probe.getsockname()[0])]
        except OSError:
            outer = []
    return [f"http://{host}:{port}" for host in dict.fromkeys(["127.0.0.1", *outer])]


def routes(tmp_path: Path) -> list[tuple[str, str]]:
    app = create_app(Settings(data_dir=tmp_path))
    found = []
    for context in iter_route_contexts(app.routes):
        if not isinstance(context.original_route, Mount):
            path = re.sub(r"{\w+(:\w+)?}", "x", str(context.path))
            template = str(context.path)
            found += [(method, path) for method in context.methods or () if template not in OPEN]
    return found


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: ",".join(claim) or "nothing")
def test_nobody_gets_in(running: Running, tmp_path: Path, claim: dict[str, str]) -> None:
    for address in addresses(running):
        with httpx.Client(base_url=address, trust_env=False, timeout=30) as stranger:
            for method, path in [*routes(tmp_path), ("GET", "/nowhere")]:
                answer = stranger.request(method, path, headers={"Origin": address, **claim})
                assert answer.status_code == 401, (address, method, path)
                assert SECRET not in answer.text
                assert "set-cookie" not in answer.headers


def test_no_password_and_no_link_but_the_logs_opens_it(running: Running) -> None:
    for address in addresses(running):
        with httpx.Client(base_url=address, trust_env=False, timeout=30) as stranger:
            for password in ("", "operator", "password"):
                form = {"name": "operator", "password": password}
                answer = stranger.post("/sign-in", data=form, headers={"Origin": address})
                assert answer.status_code == 401
            for token in ("x", "operator", "A" * 43):
                assert stranger.get(f"/sign-in/{token}").status_code == 410
            assert not stranger.cookies


def test_a_strangers_name_for_the_address_reaches_nothing(running: Running) -> None:
    port = running.url.rpartition(":")[2]
    for path in ("/", "/sign-in", "/api/v1/sessions"):
        answer = httpx.get(
            f"{running.url}{path}", headers={"Host": f"evil.example:{port}"}, trust_env=False
        )
        assert answer.status_code == 421


def test_the_link_from_the_log_gets_in_once(browser: Browser, running: Running) -> None:
    """Last: it is used up."""
    first, second = browser.new_context().new_page(), browser.new_context().new_page()
    first.set_default_timeout(PATIENCE_MS)
    first.goto(running.link)
    expect(first.get_by_role("link", name=SECRET).first).to_be_visible(timeout=PATIENCE_MS)
    second.goto(running.link)
    expect(second.get_by_role("alert")).to_contain_text("was used already")
    second.goto(running.url)
    expect(second.get_by_role("heading", name="Sign in")).to_be_visible()
    first.context.close()
    second.context.close()
