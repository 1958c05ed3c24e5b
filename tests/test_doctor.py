"""``vitrine doctor``, against what a reverse proxy can make of Vitrine's answers."""

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Thread

import pytest
from typer.testing import CliRunner

from app.cli import cli
from app.web.host import parse_host
from app.web.middleware.headers import page_policy
from tests.support.http import PatientServer

Headers = list[tuple[str, str]]


@pytest.fixture
def proxy() -> Iterator[Callable[..., str]]:
    """Answers ``/sign-in`` below a base path with the headers that the test names for a host."""
    servers: list[PatientServer] = []

    def serve(headers: Callable[[str], Headers], base: str = "", status: int = 200) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                good = self.path == f"{base}/sign-in"
                self.send_response(status if good else 404)
                for name, value in headers(self.headers["Host"]) if good else []:
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        server = PatientServer(Handler)
        servers.append(server)
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}{base}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def policy(host: str, base: str = "") -> Headers:
    parsed = parse_host(host)
    assert parsed is not None
    return [("Content-Security-Policy", page_policy(parsed, base)), ("X-Frame-Options", "DENY")]


def examined(monkeypatch: pytest.MonkeyPatch, folder: Path, **settings: str) -> tuple[int, str]:
    folder.chmod(0o700)
    monkeypatch.setenv("VITRINE_DATA_DIR", str(folder))
    for name, value in settings.items():
        monkeypatch.setenv(f"VITRINE_{name.upper()}", value)
    result = CliRunner().invoke(cli, ["doctor"])
    return result.exit_code, result.output


@pytest.mark.parametrize("base", ["", "/vitrine"])
def test_all_is_well(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, proxy: Callable[..., str], base: str
) -> None:
    url = proxy(lambda host: policy(host, base), base)
    status, said = examined(monkeypatch, tmp_path, public_url=url)
    assert (status, "WRONG" in said) == (0, False)
    assert "ok    Pages let in views from that address" in said


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        (lambda _host: policy("vitrine:8420"), "Views may come from vitrine:8420/fragments/"),
        (lambda host: policy(host, "/other"), "/other/fragments/, but they will from"),
        (
            lambda host: [*policy(host), ("Content-Security-Policy", "default-src 'self'")],
            "adds a Content-Security-Policy",
        ),
        (lambda host: [*policy(host), ("X-Frame-Options", "DENY")], "X-Frame-Options of its own"),
        (lambda _host: [("Content-Security-Policy", "x \x1b[31m")], "may come from nothing"),
        (lambda _host: [], "is no page of Vitrine’s"),
    ],
)
def test_what_a_proxy_does_wrong_is_said(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    proxy: Callable[..., str],
    headers: Callable[[str], Headers],
    why: str,
) -> None:
    status, said = examined(monkeypatch, tmp_path, public_url=proxy(headers))
    assert status == 1
    assert why in said
    assert "\x1b" not in said


def test_an_address_that_leads_elsewhere_or_nowhere_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, proxy: Callable[..., str]
) -> None:
    status, said = examined(monkeypatch, tmp_path, public_url=proxy(policy, status=502))
    assert (status, "/sign-in answers 502" in said) == (1, True)
    status, said = examined(monkeypatch, tmp_path, public_url="http://127.0.0.1:1")
    assert (status, "/sign-in cannot be asked" in said) == (1, True)


def test_an_open_data_folder_and_a_missing_one_are_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data, watched = tmp_path / "data", tmp_path / "watched"
    data.mkdir()
    watched.mkdir()
    monkeypatch.setenv("VITRINE_WATCH", f"{watched}:{tmp_path / 'nowhere'}")
    status, said = examined(monkeypatch, data)
    assert status == 1
    assert "nowhere is not there" in said
    assert "watched can be read" in said
    data.chmod(0o755)
    assert "can look into the data folder" in CliRunner().invoke(cli, ["doctor"]).output


def test_without_an_address_nobody_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    status, said = examined(monkeypatch, tmp_path)
    assert status == 0
    assert "nothing was asked" in said
