"""``vitrine user …`` and ``vitrine token …``: who may sign in, and what programs may do."""

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from app.db.tables import Role, Scope, now
from app.terminal import fail, opened, out, sign_in_url
from app.text import one_line

if TYPE_CHECKING:
    from app.db.engine import Database
    from app.settings import Settings

# What knows of sign-ins is imported where it is used: see app.cli.

user = typer.Typer(no_args_is_help=True, help="Who may sign in.")
token = typer.Typer(no_args_is_help=True, help="API tokens, for programs.")

ForDemo = Annotated[bool, typer.Option("--demo", help="For the database of the demo.")]
Name = Annotated[str, typer.Argument(help="The person’s name.")]
NameOption = Annotated[
    str, typer.Option("--name", help="Whose. The operator’s, where it is left out.")
]
_Role = Annotated[Role, typer.Option("--role", help="What that person may do.")]


def print_link(settings: "Settings", database: "Database", name: str = "") -> None:
    from app.web.auth import issue_sign_in_link

    url = f"{sign_in_url(settings)}/{issue_sign_in_link(database, name)}"
    # soft_wrap: a link broken over two lines cannot be followed.
    out.print(f"Sign in here (works once, within a day):\n\n    {url}\n", soft_wrap=True)


@user.command(name="add")
def add(name: Name, role: _Role = Role.VIEWER, for_demo: ForDemo = False) -> None:
    """Add a person, and print a one-time sign-in link for them."""
    from app.web.auth import users

    with opened(for_demo=for_demo) as (settings, database):
        with database.session() as db:
            users.operator(db)  # the first person: nobody else is to be taken for them
            added = users.add(db, name, role).name
        out.print(f"{added} is {role} now.")
        print_link(settings, database, added)


@user.command(name="list")
def list_people(for_demo: ForDemo = False) -> None:
    """List everybody who may sign in."""
    from app.web.auth import users

    with opened(for_demo=for_demo) as (_, database), database.session() as db:
        signed_in = users.count_logins(db)
        for person in users.everybody(db):
            way = "password" if person.password_hash else "no password"
            count = signed_in.get(person.id, 0)
            out.print(f"{person.name}  {users.role_of(person)}  {way}  sign-ins: {count}")


@user.command(name="role")
def set_role(
    name: Name,
    role: Annotated[Role, typer.Argument(help="What that person may do from now on.")],
    for_demo: ForDemo = False,
) -> None:
    """Give a person another role. The last operator keeps theirs."""
    from app.web.auth import users

    with opened(for_demo=for_demo) as (_, database):
        with database.session() as db:
            person = users.named(db, name)
            users.set_role(db, person, role)
        out.print(f"{person.name} is {role} now.")


@user.command(name="remove")
def remove(name: Name, for_demo: ForDemo = False) -> None:
    """Remove a person, with their sign-ins, links and tokens. The last operator stays."""
    from app.web.auth import users

    with opened(for_demo=for_demo) as (_, database):
        with database.session() as db:
            person = users.named(db, name)
            users.remove(db, person)
        out.print(f"{person.name} is removed.")


@user.command(name="password")
def password(name: NameOption = "", for_demo: ForDemo = False) -> None:
    """Set a password, or a new one when it was forgotten. Signs that person out everywhere.

    Asks for it; reads a line from standard input where that is not a terminal.
    """
    from app.web.auth import reset_password

    with opened(for_demo=for_demo) as (settings, database):
        whose = reset_password(database, _asked_password(), name)
        out.print(f"The password of {whose} is set, and every browser is signed out. Sign in here:")
        out.print(f"\n    {sign_in_url(settings)}\n", soft_wrap=True)


def _asked_password() -> str:
    """Never an argument: those are in the shell's history and in the list of processes."""
    if sys.stdin.isatty():
        asked: str = typer.prompt("New password", hide_input=True, confirmation_prompt=True)
        return asked
    try:
        return sys.stdin.readline().rstrip("\r\n")
    except UnicodeDecodeError:
        raise fail("Standard input is not text.") from None


@token.command(name="create")
def create_token(
    name: Annotated[str, typer.Argument(help="What it is for.")],
    scope: Annotated[list[Scope], typer.Option("--scope", help="What it may do; may be repeated.")],
    person: NameOption = "",
    days: Annotated[int, typer.Option("--days", help="Days until it ends; 0: never.")] = 90,
    for_demo: ForDemo = False,
) -> None:
    """Make an API token, and print it: nothing shows it again."""
    from app.web.auth import api_tokens, users

    with opened(for_demo=for_demo) as (_, database):
        with database.session() as db:
            owner = users.Person.of(users.named(db, person) if person else users.operator(db))
            made, row = api_tokens.create(
                db, owner, name, [one.value for one in scope], days=days or None
            )
        out.print(f"{made}\n", soft_wrap=True)
        out.print(f"Of {owner.name}, {_ends(row.expires_at)}. It is shown this once.")


@token.command(name="list")
def list_tokens(for_demo: ForDemo = False) -> None:
    """List the API tokens: id, name, whose, scopes, when it was used and when it ends."""
    from app.web.auth import api_tokens

    with opened(for_demo=for_demo) as (_, database), database.session() as db:
        for one in api_tokens.listed(db):
            row = one.token
            used = f"used {_day(row.used_at)}" if row.used_at else "never used"
            scopes = ",".join(row.scopes)
            ends = "expired" if one.expired else _ends(row.expires_at)
            out.print(
                f"{row.id}  {one_line(row.name, 64)}  {one.owner}  {scopes}  {used}  {ends}",
                soft_wrap=True,
            )


@token.command(name="revoke")
def revoke_token(
    token_id: Annotated[str, typer.Argument(metavar="ID", help="As `vitrine token list` has it.")],
    for_demo: ForDemo = False,
) -> None:
    """Revoke an API token: whatever uses it is refused from now on."""
    from app.web.auth import api_tokens

    with opened(for_demo=for_demo) as (_, database):
        with database.session() as db:
            name = api_tokens.revoke(db, token_id)
        out.print(f"The token {one_line(name, 64)} is revoked.")


def _ends(moment: datetime | None) -> str:
    if moment is None:
        return "never ends"
    return f"{'ends' if moment > now() else 'ended'} {_day(moment)}"


def _day(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d")
