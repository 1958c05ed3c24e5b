"""``vitrine secret rotate``, and a key that stops the start."""

from pathlib import Path

import pytest
from sqlmodel import Session

from app import vault
from app.db.engine import Database
from app.mcp import credentials, registry
from app.mcp.wallet import Claims, Wallet
from app.settings import Settings
from app.vault import Vault
from tests.test_cli import run

TOKEN = "sentinel-token"
OLD, NEW = "old-" * 10, "new-" * 10


@pytest.fixture
def environment(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    url = database.engine.url.render_as_string(hide_password=False)
    monkeypatch.setenv("VITRINE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("VITRINE_DATABASE_URL", url)
    return Settings()


def put(database: Database, keys: Vault) -> None:
    with database.session() as db:
        server = registry.add_server(db, "a", "https://mcp.example/mcp")
        credentials.put(db, Wallet(keys), server, "X-Key", value=TOKEN)
    credentials.salt(database, keys)


def sent(database: Database, keys: Vault) -> dict[str, str]:
    with database.session() as db:
        return dict(_target(db, keys))


def _target(db: Session, keys: Vault) -> tuple[tuple[str, str], ...]:
    (entry,) = registry.servers(db)
    stored = credentials.of_server(db, entry.server.id or 0)
    return Wallet(keys).target(entry.server, Claims(stored)).headers


def newest(settings: Settings) -> Vault:
    first = vault.path(settings).read_text().splitlines()[0]
    return Vault(lambda: [first])


def test_the_file_gets_a_new_key_that_encrypts_everything(
    environment: Settings, database: Database
) -> None:
    put(database, Vault.of(environment))
    before = vault.path(environment).read_text()
    running = Vault.of(environment)
    for _ in range(2):
        assert run("secret", "rotate") == (
            0,
            "1 credential is encrypted anew, with the first key.\n",
        )
        after = vault.path(environment).read_text()
        assert after.splitlines()[0] not in before
        assert sent(database, newest(environment)) == {"X-Key": TOKEN}
        # What runs meanwhile finds the new key by itself.
        assert sent(database, running) == {"X-Key": TOKEN}
        before = after


def test_a_rotation_that_was_killed_goes_on(environment: Settings, database: Database) -> None:
    put(database, Vault.of(environment))
    vault.add_key(environment)
    there = vault.path(environment).read_text()
    assert run("secret", "rotate")[0] == 0
    assert vault.path(environment).read_text() == there
    assert sent(database, newest(environment)) == {"X-Key": TOKEN}


def test_keys_of_the_environment_are_rotated_to_the_first(
    environment: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(database, Vault(lambda: [OLD]))
    monkeypatch.setenv("VITRINE_SECRET_KEY", f"{NEW}, {OLD}")
    status, said = run("secret", "rotate")
    assert status == 0
    assert "Any other key in VITRINE_SECRET_KEY is not needed" in said
    assert NEW not in said
    assert OLD not in said
    assert sent(database, Vault(lambda: [NEW])) == {"X-Key": TOKEN}
    assert not vault.path(environment).exists()


def test_what_no_key_opens_is_said(
    environment: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(database, Vault(lambda: [OLD]))
    monkeypatch.setenv("VITRINE_SECRET_KEY", NEW)
    status, said = run("secret", "rotate")
    assert status == 1
    assert "1 could not be decrypted" in said
    assert sent(database, Vault(lambda: [OLD])) == {"X-Key": TOKEN}


@pytest.mark.parametrize("command", ["serve", "demo"])
def test_a_key_file_that_others_may_read_stops_the_start(
    environment: Settings, command: str
) -> None:
    settings = environment
    if command == "demo":
        settings = environment.model_copy(update={"data_dir": environment.data_dir / "demo"})
    Vault.of(settings)
    vault.path(settings).chmod(0o644)
    status, said = run(command)
    assert status == 2
    assert "chmod 600" in said


@pytest.mark.parametrize("key", ["short", f"{NEW},short"])
def test_a_weak_key_stops_the_start(
    environment: Settings, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("VITRINE_SECRET_KEY", key)
    status, said = run("secret", "rotate")
    assert (status, said) == (
        2,
        "VITRINE_SECRET_KEY: a key must have at least 32 characters.\n",
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("VITRINE_OUTBOUND_PROXY", "http://user:sentinel@proxy:3128"),
        ("VITRINE_OUTBOUND_PROXY", "socks5://proxy:1080"),
        ("VITRINE_OUTBOUND_PROXY", "http://proxy"),
        ("VITRINE_CREDENTIAL_VARIABLES", "A B"),
        ("VITRINE_CREDENTIAL_VARIABLES", "A@"),
        ("VITRINE_CREDENTIAL_VARIABLES", "VITRINE_SECRET_KEY@a"),
        ("VITRINE_CREDENTIAL_VARIABLES", "TOKEN,VITRINE_SECRET_KEY"),
    ],
)
def test_a_setting_that_cannot_be_stops_the_start(
    environment: Settings, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    status, said = run("secret", "rotate")
    assert status == 2
    assert said.startswith(f"{name}: ")
    assert "sentinel" not in said
