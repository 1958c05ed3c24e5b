"""The ``vitrine`` command."""

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from app import __version__
from app.db.engine import Database
from app.errors import VitrineError
from app.people_commands import ForDemo, NameOption, print_link, token, user
from app.secret_commands import secret
from app.settings import Settings
from app.terminal import database as _database
from app.terminal import demo_settings as _demo_settings
from app.terminal import err as _err
from app.terminal import fail as _fail
from app.terminal import opened
from app.terminal import out as _out
from app.terminal import settings as _settings
from app.terminal import sign_in_url as _sign_in_url
from app.terminal import vault as _vault
from app.text import one_line
from app.transcripts import redaction
from app.transcripts.ingest import ImportSummary, import_paths
from app.transcripts.redaction import Redactor
from app.transcripts.search_upkeep import fill_index

# What serves (web, MCP, the demo) is imported where it is used: it takes two thirds of a command's
# start and fifty megabytes, and ``vitrine import``, which runs from hooks and timers, needs none.

cli = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Shows the transcripts of headless coding agents and the MCP App views in them.",
)
cli.add_typer(user, name="user")
cli.add_typer(token, name="token")
cli.add_typer(secret, name="secret")


def _configure_log() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    # Two lines about itself at every start say nothing to an operator.
    logging.getLogger("alembic").setLevel(logging.WARNING)


def _announce(settings: Settings, database: Database) -> None:
    """Once there is another way in, a log holds none any more."""
    from app.web.auth import password_exists

    if password_exists(database):
        _out.print(f"Sign in with your password:\n\n    {_sign_in_url(settings)}\n", soft_wrap=True)
    elif settings.proxy_user_header:
        _out.print(
            f"Sign in through your reverse proxy (people: vitrine user add, vitrine user list):"
            f"\n\n    {settings.public_url or _sign_in_url(settings)}\n",
            soft_wrap=True,
        )
    else:
        print_link(settings, database)


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
def sign_in_link(name: NameOption = "", for_demo: ForDemo = False) -> None:
    """Print a new one-time sign-in link."""
    with opened(for_demo=for_demo) as (settings, database):
        print_link(settings, database, name)


@cli.command()
def doctor() -> None:
    """Look for what keeps views blank or data open. Exits with 1 where something is wrong."""
    import asyncio

    from app import doctor as examination

    settings = _settings()
    _database(settings).dispose()
    findings = [
        *examination.examine_files(settings),
        *asyncio.run(examination.examine_address(settings)),
    ]
    for finding in findings:
        _out.print(f"{'ok   ' if finding.is_well else 'WRONG'} {finding.sentence}", soft_wrap=True)
    if not all(finding.is_well for finding in findings):
        raise typer.Exit(1)


@cli.command()
def version() -> None:
    """Print the version."""
    _out.print(__version__)


def main() -> None:
    cli()


if __name__ == "__main__":
    sys.exit(cli())
