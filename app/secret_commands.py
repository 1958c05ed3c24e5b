"""``vitrine secret …``: the key that encrypts stored credentials."""

import typer

from app import terminal
from app.errors import VitrineError
from app.people_commands import ForDemo
from app.text import one_line

secret = typer.Typer(no_args_is_help=True, help="The key that encrypts stored credentials.")


@secret.command(name="rotate")
def rotate(for_demo: ForDemo = False) -> None:
    """Encrypt every stored credential with a new key.

    With the key file, a new key is made. With VITRINE_SECRET_KEY, put the new key before the old
    one, separated by a comma, first. May be interrupted and run again; Vitrine may be running.
    """
    from app.mcp import rotation
    from app.vault import add_key

    settings = terminal.demo_settings(terminal.settings()) if for_demo else terminal.settings()
    vault = terminal.vault(settings)
    database = terminal.database(settings)
    try:
        # Else a rotation was interrupted, or another machine's key is to be replaced: go on.
        if not settings.secret_keys and not rotation.is_left_over(database, vault):
            add_key(settings)
            vault = terminal.vault(settings)
        done, lost = rotation.encrypt_anew(database, vault)
    except OSError as error:
        raise terminal.fail(
            f"The key file cannot be written: {one_line(str(error.strerror))}."
        ) from None
    except VitrineError as error:
        raise terminal.fail(error.sentence) from None
    finally:
        database.dispose()
    count = "1 credential is" if done == 1 else f"{done} credentials are"
    terminal.out.print(f"{count} encrypted anew, with the first key.")
    if settings.secret_keys:
        terminal.out.print("Any other key in VITRINE_SECRET_KEY is not needed any more.")
    if lost:
        raise terminal.fail(
            f"{lost} could not be decrypted with any key. Put the old key back and run this "
            "again, or enter them anew under Settings, Servers."
        )
