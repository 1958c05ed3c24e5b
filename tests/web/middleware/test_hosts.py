"""DNS rebinding: a name that this deployment does not have is answered with nothing."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.main import create_app
from app.settings import Settings
from app.web.host import parse_host
from app.web.middleware.hosts import AllowedHosts

EVERYWHERE = "0.0.0.0"


def allowed(asked: str, **settings: str) -> bool:
    parsed = parse_host(asked)
    assert parsed is not None
    return parsed in AllowedHosts(Settings(**({"allowed_hosts": ""} | settings)))  # type: ignore[arg-type]


LOOPBACK = ["localhost", "127.0.0.1", "[::1]", "LOCALHOST:8420", "127.0.0.1:1"]
ADDRESSES = ["192.168.1.5", "10.0.0.1:8420", "[fd00::5]", "203.0.113.9"]
NAMES = ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "vitrine", "1e100.net"]


@pytest.mark.parametrize("bound", ["127.0.0.1", EVERYWHERE, "::", "192.168.1.5"])
def test_this_machines_own_names_are_known_and_no_strangers(bound: str) -> None:
    assert all(allowed(host, host=bound) for host in LOOPBACK)
    assert not any(allowed(host, host=bound) for host in NAMES)


def test_an_address_is_known_where_every_address_is_bound_and_nothing_is_configured() -> None:
    for bound in (EVERYWHERE, "::"):
        assert all(allowed(host, host=bound) for host in ADDRESSES)
        assert not any(
            allowed(host, host=bound, public_url="https://a.example") for host in ADDRESSES
        )
        assert not any(allowed(host, host=bound, allowed_hosts="a.example") for host in ADDRESSES)
    assert not any(allowed(host, host="127.0.0.1") for host in ADDRESSES)
    assert [allowed(host, host="192.168.1.5") for host in ADDRESSES] == [True, False, False, False]
    assert allowed("[fd00::5]:8420", host="fd00::5")


def test_what_is_configured_is_known_with_any_port() -> None:
    names = {
        "public_url": "https://Vitrine.example.org:8443/base",
        "allowed_hosts": "a.example, [fd00::1]",
    }
    for host in ("vitrine.example.org", "VITRINE.example.org:1", "a.example", "[fd00::1]:8420"):
        assert allowed(host, **names)
    for host in ("example.org", "x.vitrine.example.org", "b.example", "[fd00::2]"):
        assert not allowed(host, **names)


@pytest.mark.parametrize(
    "value", ["a b", "https://a.example", "a.example:80", "*", "*.a.example", "ä"]
)
def test_what_is_no_host_stops_the_start(value: str) -> None:
    with pytest.raises(ValueError, match="is no host name or address"):
        Settings(allowed_hosts=value)


@pytest.fixture
def rebound(settings: Settings, tmp_path: Path) -> TestClient:
    """A page at http://evil.example:8420 whose name now points here: of one origin with us."""
    own = settings.model_copy(update={"allowed_hosts": ""})
    headers = {"Origin": "http://evil.example:8420", "Sec-Fetch-Site": "same-origin"}
    return TestClient(
        create_app(own),
        base_url="http://evil.example:8420",
        headers=headers,
        follow_redirects=False,
    )


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/sign-in"),
        ("POST", "/sign-in"),
        ("GET", "/sign-in/token"),
        ("GET", "/events"),
        ("GET", "/static/css/app.css"),
        ("GET", "/api/v1/sessions"),
        ("POST", "/settings/servers"),
        ("GET", "/nowhere"),
    ],
)
def test_a_rebound_name_reaches_nothing(rebound: TestClient, method: str, path: str) -> None:
    with rebound as page:
        answer = page.request(method, path, headers={"Accept": "application/json"})
        assert answer.status_code == 421
        said = answer.json()["error"]["message"]
        assert "evil.example" in said
        assert "VITRINE_ALLOWED_HOSTS" in said
        assert page.request(method, path).headers["x-content-type-options"] == "nosniff"


def test_what_watches_the_process_may_use_any_name(rebound: TestClient) -> None:
    with rebound as page:
        assert page.get("/healthz").json() == {"status": "ok"}
        assert page.get("/healthz/").status_code == 421


def test_a_base_path_hides_nothing(settings: Settings) -> None:
    own = settings.model_copy(update={"allowed_hosts": ""})
    with TestClient(create_app(own), root_path="/v", base_url="http://evil.example") as page:
        assert page.get("/v/healthz").status_code == 200
        assert page.get("/v/sign-in").status_code == 421
