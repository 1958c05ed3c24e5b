"""Served by the real server, over real sockets: who holds the other end is what counts."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
import uvicorn

from app.db.engine import Database
from app.main import create_app
from app.serving import outermost
from app.settings import Settings
from app.web.auth import users


@contextmanager
def served(settings: Settings) -> Iterator[httpx.Client]:
    listener = socket.create_server(("127.0.0.1", 0))
    app = create_app(settings)
    config = uvicorn.Config(
        outermost(app, settings), log_config=None, proxy_headers=False, lifespan="on"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])), daemon=True)
    thread.start()
    try:
        while not server.started:
            thread.join(0.01)
            assert thread.is_alive(), "the server ended before it was ready"
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with httpx.Client(base_url=url, trust_env=False, timeout=30) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


@pytest.fixture
def settings(database: Database) -> Settings:
    with database.session() as db:
        users.operator(db)
    return Settings(
        database_url=database.engine.url.render_as_string(hide_password=False),
        proxy_user_header="Remote-User",
        proxy_sign_in_from="127.0.0.1",
        trusted_proxies="127.0.0.1",
        public_url="https://vitrine.example",
    )


FORWARDED = {"X-Forwarded-For": "10.9.9.9", "X-Forwarded-Proto": "https"}


@pytest.mark.parametrize(
    ("believed", "status"), [("127.0.0.0/8", 200), ("10.9.9.9", 401), ("10.0.0.0/8", 401)]
)
def test_the_header_is_judged_by_the_socket_and_not_by_what_is_forwarded(
    settings: Settings, believed: str, status: int
) -> None:
    chosen = settings.model_copy(update={"proxy_sign_in_from": believed})
    with served(chosen) as client:
        answer = client.get("/outbox", headers={"Remote-User": "operator", **FORWARDED})
        assert answer.status_code == status
        assert client.get("/outbox", headers=FORWARDED).status_code == 401


@pytest.mark.parametrize(
    ("trusted", "secure"), [("127.0.0.1", True), ("10.1.1.1", False), ("", False)]
)
def test_a_forwarded_scheme_is_believed_from_a_trusted_proxy_only(
    settings: Settings, trusted: str, secure: bool
) -> None:
    chosen = settings.model_copy(update={"trusted_proxies": trusted, "proxy_user_header": ""})
    with served(chosen) as client:
        answer = client.post(
            "/sign-out", headers={**FORWARDED, "Origin": str(client.base_url).rstrip("/")}
        )
        # Under TLS a page of ours has an https origin: a plain one is another's.
        assert answer.status_code == (403 if secure else 401)
