"""What every command of the command line shares: settings, the database, and how it speaks."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer
from pydantic import ValidationError
from rich.console import Console
from sqlalchemy.exc import ArgumentError, DBAPIError

from app.db.engine import Database
from app.db.migrate import upgrade
from app.errors import VitrineError
from app.settings import Settings
from app.text import one_line

if TYPE_CHECKING:
    from app.vault import Vault

# markup=False: a name from a transcript must not be able to speak to the terminal.
out = Console(markup=False, highlight=False)
err = Console(stderr=True, markup=False, highlight=False)


def fail(sentence: str, status: int = 1) -> typer.Exit:
    err.print(sentence)
    return typer.Exit(status)


def settings() -> Settings:
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        why = one_line(str(first["msg"])).removeprefix("Value error, ")
        # A rule on two settings names them itself.
        name = f"VITRINE_{str(first['loc'][0]).upper()}: " if first["loc"] else ""
        raise fail(f"{name}{why}.", 2) from None


def demo_settings(outer: Settings) -> Settings:
    """The demo has a database of its own: it allows a server, which must never leak into a real
    deployment.
    """
    return outer.model_copy(update={"data_dir": outer.data_dir / "demo", "database_url": ""})


def database(chosen: Settings) -> Database:
    try:
        opened = Database(chosen.effective_database_url)
        upgrade(opened.engine)
    except ArgumentError:
        raise fail("VITRINE_DATABASE_URL is not a database URL.", 2) from None
    except ValueError as error:
        raise fail(f"{error}.", 2) from None
    except OSError as error:
        raise fail(
            f"The data folder {one_line(str(chosen.data_dir))} cannot be used: "
            f"{one_line(str(error.strerror))}. Set VITRINE_DATA_DIR to another one.",
            2,
        ) from None
    except DBAPIError as error:
        # Of the driver's own words the first line: they hold no password.
        why = one_line(str(error.orig).strip().split("\n")[0])
        raise fail(f"The database cannot be used: {why}.", 2) from None
    return opened


@contextmanager
def opened(*, for_demo: bool = False) -> Iterator[tuple[Settings, Database]]:
    """The settings and their database. What goes wrong with a ``VitrineError`` is one sentence."""
    chosen = demo_settings(settings()) if for_demo else settings()
    used = database(chosen)
    try:
        yield chosen, used
    except VitrineError as error:
        raise fail(error.sentence) from None
    finally:
        used.dispose()


def sign_in_url(chosen: Settings) -> str:
    from app import serving

    base = chosen.public_url.rstrip("/")
    return f"{base or serving.local_url(chosen)}/sign-in"


def vault(chosen: Settings) -> "Vault":
    from app.vault import Vault

    try:
        return Vault.of(chosen)
    except VitrineError as error:
        raise fail(error.sentence, 2) from None
