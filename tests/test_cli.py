"""The command line's part in signing in: what is printed, and how a password gets in."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sqlmodel import select
from typer.testing import CliRunner

from app import cli
from app.db import tables
from app.db.engine import Database
from app.settings import Settings
from app.web.auth import password_exists, passwords
from tests.transcripts.making import user

ROOT = Path(__file__).resolve().parent.parent
PASSWORD = "correct horse battery"
LINK = re.compile(r"http://127\.0\.0\.1:8420/sign-in/[\w-]{43}")


@pytest.fixture
def environment(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    url = database.engine.url.render_as_string(hide_password=False)
    monkeypatch.setenv("VITRINE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("VITRINE_DATABASE_URL", url)
    return Settings()


def run(*arguments: str, stdin: str = "") -> tuple[int, str]:
    result = CliRunner().invoke(cli.cli, arguments, input=stdin)
    return result.exit_code, result.output


def announced(settings: Settings, database: Database, capsys: pytest.CaptureFixture[str]) -> str:
    cli._announce(settings, database)
    return capsys.readouterr().out


def test_a_start_prints_a_link_until_there_is_a_password(
    environment: Settings, database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    assert LINK.search(announced(environment, database, capsys))
    passwords.reset(database, PASSWORD)
    said = announced(environment, database, capsys)
    assert not LINK.search(said)
    assert "Sign in with your password" in said
    assert "http://127.0.0.1:8420/sign-in\n" in said


def test_a_link_can_be_had_all_the_same(environment: Settings, database: Database) -> None:
    passwords.reset(database, PASSWORD)
    status, said = run("sign-in-link")
    assert status == 0
    assert LINK.search(said)


@pytest.mark.parametrize("ending", ["", "\n", "\r\n", "\nmore\n"])
def test_a_password_is_read_from_standard_input(
    environment: Settings, database: Database, ending: str
) -> None:
    status, said = run("user", "password", stdin=f"{PASSWORD}{ending}")
    assert status == 0
    assert "every browser is signed out" in said
    assert PASSWORD not in said
    assert passwords.sign_in(database, PASSWORD, days=1, replacing=None) is not None


def test_setting_it_again_signs_everybody_out(environment: Settings, database: Database) -> None:
    passwords.reset(database, PASSWORD)
    login = passwords.sign_in(database, PASSWORD, days=1, replacing=None)
    assert login is not None
    assert run("user", "password", stdin="another horse entirely\n")[0] == 0
    assert passwords.sign_in(database, PASSWORD, days=1, replacing=None) is None
    with database.session() as db:
        assert db.get(type(login.login), login.login.id) is None


@pytest.mark.parametrize("stdin", ["", "short\n", "x" * 1025])
def test_a_password_that_may_not_be_one_is_a_sentence(
    environment: Settings, database: Database, stdin: str
) -> None:
    status, said = run("user", "password", stdin=stdin)
    assert status == 1
    assert said.startswith("A password has at ")
    assert not password_exists(database)


def test_a_password_is_no_argument(environment: Settings, database: Database) -> None:
    assert run("user", "password", PASSWORD)[0] == 2
    assert not password_exists(database)


def test_at_a_terminal_it_is_asked_for_twice_and_not_shown(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "user", "password"],
        cwd=ROOT,
        env={**os.environ, "VITRINE_DATA_DIR": str(tmp_path), "VITRINE_DATABASE_URL": ""},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    try:
        for prompt in (b"New password: ", b"Repeat for confirmation: "):
            while prompt not in shown:
                shown += os.read(ours, 1024)
            os.write(ours, PASSWORD.encode() + b"\n")
        while b"signed out" not in shown:
            shown += os.read(ours, 1024)
    finally:
        os.close(ours)
        process.wait(60)
    assert PASSWORD.encode() not in shown
    database = Database(f"sqlite:///{tmp_path / 'vitrine.db'}")
    assert password_exists(database)
    database.dispose()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("VITRINE_DATABASE_URL", "garbage", "VITRINE_DATABASE_URL is not a database URL."),
        ("VITRINE_DATABASE_URL", "mysql://x/y", "must begin with sqlite:/// or postgresql+psycopg"),
        ("VITRINE_DATABASE_URL", "postgresql+psycopg://u:pw@127.0.0.1:1/x", "cannot be used"),
        ("VITRINE_DATABASE_URL", "sqlite:////etc/passwd", "cannot be used"),
        ("VITRINE_DATA_DIR", "/dev/null/x", "The data folder /dev/null/x cannot be used"),
        ("VITRINE_PORT", "abc", "VITRINE_PORT: "),
        ("VITRINE_ROOT_PATH", "x", "VITRINE_ROOT_PATH: must begin with /."),
        ("VITRINE_PUBLIC_URL", "javascript:1", "VITRINE_PUBLIC_URL: must begin with http://"),
        ("VITRINE_TRUSTED_PROXIES", "foo", "VITRINE_TRUSTED_PROXIES: foo is no address"),
    ],
)
def test_a_wrong_setting_is_a_sentence(
    name: str, value: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VITRINE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv(name, value)
    status, output = run("sign-in-link")
    assert status == 2
    assert said in output
    assert "Traceback" not in output
    assert "pw@" not in output


def test_the_demos_link_is_for_the_demos_database(
    environment: Settings, database: Database, tmp_path: Path
) -> None:
    status, output = run("sign-in-link", "--demo")
    assert status == 0
    assert LINK.search(output)
    assert (tmp_path / "demo" / "vitrine.db").is_file()


def test_the_demo_needs_two_ports(environment: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VITRINE_DEMO_PORT", str(environment.port))
    assert run("demo") == (2, "VITRINE_PORT and VITRINE_DEMO_PORT must differ.\n")


@pytest.mark.usefixtures("environment")
def test_an_import_that_reads_nothing_has_failed(tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text("no transcript\n")
    status, output = run("import", str(tmp_path / "notes.jsonl"))
    assert status == 1
    assert "Skipped" in output
    assert "Nothing could be read." in output


@pytest.mark.parametrize(("redact", "shown"), [("on", False), ("off", True)])
def test_secrets_are_hidden_in_what_is_imported(
    environment: Settings,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    redact: str,
    shown: bool,
) -> None:
    secret = "ghp_" + "a1B2" * 9
    transcript = environment.data_dir / "projects" / "one.jsonl"
    transcript.parent.mkdir()
    transcript.write_bytes(user(f"my key is {secret}") + b"\n")
    monkeypatch.setenv("VITRINE_REDACT", redact)
    assert run("import", str(transcript))[0] == 0
    with database.session() as db:
        title = db.exec(select(tables.Session.title)).one()
    assert (secret in title) is shown


@pytest.mark.parametrize("command", [["serve"], ["import", "."]])
@pytest.mark.usefixtures("environment")
def test_redaction_rules_that_cannot_be_used_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    rules = tmp_path / "rules"
    rules.write_text("(")
    monkeypatch.setenv("VITRINE_REDACT_RULES", str(rules))
    status, said = run(*command)
    assert status == 2
    assert "Line 1 of the redaction rules" in " ".join(said.split())


def test_an_import_does_not_load_what_serves(tmp_path: Path) -> None:
    """It runs from hooks and timers, and two thirds of its start would be that."""
    transcript = tmp_path / "one.jsonl"
    transcript.write_bytes(user("Hello") + b"\n")
    seen = (
        "import sys; from typer.testing import CliRunner; from app.cli import cli; "
        "print(CliRunner().invoke(cli, ['import', sys.argv[1]]).exit_code, "
        "sorted({'fastapi', 'mcp', 'uvicorn'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", seen, str(transcript)],
        cwd=ROOT,
        env={**os.environ, "VITRINE_DATA_DIR": str(tmp_path / "data"), "VITRINE_DATABASE_URL": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "0 []\n"
