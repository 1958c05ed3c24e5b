"""The ``vitrine`` command."""

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from sqlalchemy.exc import ArgumentError, DBAPIError

from app import __version__
from app.db.engine import Database
from app.db.migrate import upgrade
from app.errors import VitrineError
from app.settings import Settings
from app.text import one_line
from app.transcripts import redaction
from app.transcripts.ingest import ImportSummary, import_paths
from app.transcripts.redaction import Redactor
from app.transcripts.search_upkeep import fill_index

if TYPE_CHECKING:
    from app.vault import Vault

# What serves (web, MCP, the demo) is imported where it is used: it takes two thirds of a command's
# start and fifty megabytes, and ``vitrine import``, which runs from hooks and timers, needs none.

cli = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Shows the transcripts of headless coding agents and the MCP App views in them.",
)
user = typer.Typer(no_args_is_help=True, help="Who may sign in.")
cli.add_typer(user, name="user")
secret = typer.Typer(no_args_is_help=True, help="The key that encrypts stored credentials.")
cli.add_typer(secret, name="secret")
# markup=False: a name from a transcript must not be able to speak to the terminal.
_out = Console(markup=False, highlight=False)
_err = Console(stderr=True, markup=False, highlight=False)

_ForDemo = Annotated[bool, typer.Option("--demo", help="For the database of the demo.")]


def _fail(sentence: str, status: int = 1) -> typer.Exit:
    _err.print(sentence)
    return typer.Exit(status)


def _configure_log() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    # Two lines about itself at every start say nothing to an operator.
    logging.getLogger("alembic").setLevel(logging.WARNING)


def _settings() -> Settings:
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = "VITRINE_" + str(first["loc"][0]).upper()
        why = one_line(str(first["msg"])).removeprefix("Value error, ")
        raise _fail(f"{name}: {why}.", 2) from None


def _demo_settings(outer: Settings) -> Settings:
    """The demo has a database of its own: it allows a server, which must never leak into a real
    deployment.
    """
    return outer.model_copy(update={"data_dir": outer.data_dir / "demo", "database_url": ""})


def _database(settings: Settings) -> Database:
    try:
        database = Database(settings.effective_database_url)
        upgrade(database.engine)
    except ArgumentError:
        raise _fail("VITRINE_DATABASE_URL is not a database URL.", 2) from None
    except ValueError as error:
        raise _fail(f"{error}.", 2) from None
    except OSError as error:
        raise _fail(
            f"The data folder {one_line(str(settings.data_dir))} cannot be used: "
            f"{one_line(str(error.strerror))}. Set VITRINE_DATA_DIR to another one.",
            2,
        ) from None
    except DBAPIError as error:
        # Of the driver's own words the first line: they hold no password.
        why = one_line(str(error.orig).strip().split("\n")[0])
        raise _fail(f"The database cannot be used: {why}.", 2) from None
    return database


def _vault(settings: Settings) -> "Vault":
    from app.vault import Vault

    try:
        return Vault.of(settings)
    except VitrineError as error:
        raise _fail(error.sentence, 2) from None


def _sign_in_url(settings: Settings) -> str:
    from app import serving

    base = settings.public_url.rstrip("/")
    return f"{base or serving.local_url(settings)}/sign-in"


def _print_link(settings: Settings, database: Database) -> None:
    from app.web.auth import issue_sign_in_link

    url = f"{_sign_in_url(settings)}/{issue_sign_in_link(database)}"
    # soft_wrap: a link broken over two lines cannot be followed.
    _out.print(f"Sign in here (works once, within a day):\n\n    {url}\n", soft_wrap=True)


def _announce(settings: Settings, database: Database) -> None:
    """Once there is a password, a log holds no way in any more."""
    from app.web.auth import password_exists

    if password_exists(database):
        _out.print(f"Sign in with your password:\n\n    {_sign_in_url(settings)}\n", soft_wrap=True)
    else:
        _print_link(settings, database)


@cli.command()
def serve() -> None:
    """Run the web app. Everything is off until someone signs in and turns it on."""
    _configure_log()
    settings = _settings()
    _redactor(settings)  # rules that cannot be used are said before anything listens
    _vault(settings)  # so is a key that cannot be
    database = _database(settings)
    _serve(settings, database)


@cli.command(name="demo")
def run_demo() -> None:
    """Run the web app with a recorded session and a small MCP server to try it with."""
    # First: the MCP SDK's server would configure it otherwise, and hide what is not a warning.
    _configure_log()
    from app.demo.prepare import prepare
    from app.demo.run import HOST as DEMO_HOST
    from app.demo.run import port_is_free
    from app.demo.run import serving as serving_demo

    outer = _settings()
    settings = _demo_settings(outer)
    if settings.port == settings.demo_port:
        raise _fail("VITRINE_PORT and VITRINE_DEMO_PORT must differ.", 2)
    if not port_is_free(DEMO_HOST, settings.demo_port):
        raise _fail(
            f"Port {settings.demo_port} is taken: the demo’s MCP server needs it. Stop what uses "
            "it, or set VITRINE_DEMO_PORT."
        )
    _vault(settings)
    database = _database(settings)
    url = prepare(database, settings.demo_port)
    _out.print(
        f"The demo allows views of its own MCP server, {url}, and of no other.", soft_wrap=True
    )
    with serving_demo(settings.demo_port):
        _serve(settings, database)


def _serve(settings: Settings, database: Database) -> None:
    from app import serving
    from app.demo.run import port_is_free

    if not port_is_free(settings.host, settings.port):
        raise _fail(
            f"Vitrine cannot listen on {one_line(settings.host)}, port {settings.port}. Either the "
            "port is taken (stop what uses it, or set VITRINE_PORT), or VITRINE_HOST is no address "
            "of this machine."
        )
    try:
        serving.run(settings, lambda: _announce(settings, database))
    finally:
        database.dispose()


@cli.command(name="import")
def import_transcripts(
    paths: Annotated[
        list[Path], typer.Argument(help="Transcript files, or folders to search for them.")
    ],
    again: Annotated[
        bool, typer.Option("--again", help="Those too that were deleted in Vitrine.")
    ] = False,
) -> None:
    """Read transcripts into the database. Importing again adds only what is new."""
    missing = [path for path in paths if not path.exists()]
    if missing:
        raise _fail(f"There is no file or folder {one_line(str(missing[0]))}.", 2)
    settings = _settings()
    redact = _redactor(settings)
    database = _database(settings)
    try:
        summary = _import_with_progress(database, paths, again=again, redact=redact)
        # What an older version read is not there yet.
        with _err.status("Filling the search index"):
            fill_index(database)
    except VitrineError as error:
        raise _fail(error.sentence) from None
    finally:
        database.dispose()
    _print_summary(summary)
    if summary.files_skipped and not summary.read_anything:
        raise _fail("Nothing could be read.")


def _redactor(settings: Settings) -> Redactor:
    try:
        return redaction.load(settings.redact, settings.redact_rules_file)
    except VitrineError as error:
        raise _fail(error.sentence, 2) from None


def _import_with_progress(
    database: Database, paths: list[Path], *, again: bool, redact: Redactor
) -> ImportSummary:
    columns = (TextColumn("Reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=_err, transient=True) as progress:
        task = progress.add_task("", total=None)

        def advance(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        return import_paths(database, paths, progress=advance, again=again, redact=redact)


def _print_summary(summary: ImportSummary) -> None:
    _out.print(
        f"{summary.sessions_new} new sessions, {summary.sessions_grown} grown, "
        f"{summary.entries_new} new entries, {summary.files_unchanged} files unchanged."
    )
    for path, why in summary.files_skipped:
        _out.print(f"Skipped {one_line(str(path))}: {one_line(why)}", soft_wrap=True)


@cli.command(name="sign-in-link")
def sign_in_link(for_demo: _ForDemo = False) -> None:
    """Print a new one-time sign-in link."""
    settings = _demo_settings(_settings()) if for_demo else _settings()
    database = _database(settings)
    _print_link(settings, database)
    database.dispose()


@user.command(name="password")
def user_password(for_demo: _ForDemo = False) -> None:
    """Set the password, or a new one when it was forgotten. Signs every browser out.

    Asks for it; reads a line from standard input where that is not a terminal.
    """
    from app.web.auth import reset_password

    settings = _demo_settings(_settings()) if for_demo else _settings()
    database = _database(settings)
    try:
        reset_password(database, _asked_password())
    except VitrineError as error:
        raise _fail(error.sentence) from None
    finally:
        database.dispose()
    _out.print("The password is set, and every browser is signed out. Sign in here:")
    _out.print(f"\n    {_sign_in_url(settings)}\n", soft_wrap=True)


def _asked_password() -> str:
    """Never an argument: those are in the shell's history and in the list of processes."""
    if sys.stdin.isatty():
        asked: str = typer.prompt("New password", hide_input=True, confirmation_prompt=True)
        return asked
    try:
        return sys.stdin.readline().rstrip("\r\n")
    except UnicodeDecodeError:
        raise _fail("Standard input is not text.") from None


@secret.command(name="rotate")
def rotate(for_demo: _ForDemo = False) -> None:
    """Encrypt every stored credential with a new key.

    With the key file, a new key is made. With VITRINE_SECRET_KEY, put the new key before the old
    one, separated by a comma, first. May be interrupted and run again; Vitrine may be running.
    """
    from app.mcp import rotation
    from app.vault import add_key

    settings = _demo_settings(_settings()) if for_demo else _settings()
    vault = _vault(settings)
    database = _database(settings)
    try:
        # Else a rotation was interrupted, or another machine's key is to be replaced: go on.
        if not settings.secret_keys and not rotation.is_left_over(database, vault):
            add_key(settings)
            vault = _vault(settings)
        done, lost = rotation.encrypt_anew(database, vault)
    except OSError as error:
        raise _fail(f"The key file cannot be written: {one_line(str(error.strerror))}.") from None
    except VitrineError as error:
        raise _fail(error.sentence) from None
    finally:
        database.dispose()
    count = "1 credential is" if done == 1 else f"{done} credentials are"
    _out.print(f"{count} encrypted anew, with the first key.")
    if settings.secret_keys:
        _out.print("Any other key in VITRINE_SECRET_KEY is not needed any more.")
    if lost:
        raise _fail(
            f"{lost} could not be decrypted with any key. Put the old key back and run this "
            "again, or enter them anew under Settings, Servers."
        )


@cli.command()
def version() -> None:
    """Print the version."""
    _out.print(__version__)


def main() -> None:
    cli()


if __name__ == "__main__":
    sys.exit(cli())
