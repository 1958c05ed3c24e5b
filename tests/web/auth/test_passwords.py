"""What a password may be, and what setting one ends."""

from typing import Literal

import pytest
from argon2 import PasswordHasher
from argon2.profiles import RFC_9106_LOW_MEMORY
from sqlmodel import select

from app.db import tables
from app.db.engine import Database
from app.web.auth import issue_sign_in_link, links, logins, passwords, users
from app.web.auth.logins import NewLogin
from app.web.auth.passwords import PasswordRefusedError

GOOD = "correct horse battery"

pytestmark = pytest.mark.usefixtures("quick_hashing")


def sign_in(database: Database, password: str, **options: str) -> logins.NewLogin | None:
    return passwords.sign_in(database, password, days=1, replacing=options.get("replacing"))


def change(database: Database, current: str, new: str, again: str | None = None) -> NewLogin:
    with database.session() as db:
        user_id = users.operator(db).id
    again = new if again is None else again
    return passwords.change(database, user_id, current=current, new=new, again=again, days=1)


def stored(database: Database) -> str | None:
    with database.session() as db:
        return users.operator(db).password_hash


def signed_in(database: Database) -> list[str]:
    with database.session() as db:
        return list(db.exec(select(tables.LoginSession.id)))


def test_no_password_signs_in_until_one_is_set(database: Database) -> None:
    assert not users.password_exists(database)
    assert sign_in(database, "") is None
    assert sign_in(database, GOOD) is None
    passwords.reset(database, GOOD)
    assert users.password_exists(database)
    assert sign_in(database, GOOD) is not None


@pytest.mark.parametrize("password", ["", "correct horse", GOOD + " ", GOOD.upper(), GOOD * 60])
def test_another_password_does_not_sign_in(database: Database, password: str) -> None:
    passwords.reset(database, GOOD)
    assert sign_in(database, password) is None
    assert signed_in(database) == []


def test_only_a_slow_hash_is_stored(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    passwords.reset(database, GOOD)
    hashed = stored(database)
    assert hashed is not None
    assert hashed.startswith("$argon2id$")
    assert GOOD not in hashed
    assert PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY).check_needs_rehash(hashed) is False


@pytest.mark.parametrize(
    ("password", "said"),
    [
        ("", "at least 10 characters"),
        ("nine char", "at least 10 characters"),
        ("x" * 1025, "at most 1,024 characters"),
        # Five letters and five combining marks, which are five characters.
        ("e\u0301" * 5, "at least 10 characters"),
    ],
)
def test_what_may_not_be_a_password_is_said(database: Database, password: str, said: str) -> None:
    for attempt in (
        lambda: passwords.reset(database, password),
        lambda: change(database, "", password),
    ):
        with pytest.raises(PasswordRefusedError, match=said) as refused:
            attempt()
        assert (refused.value.status, refused.value.field) == (400, "new")
    assert not users.password_exists(database)


@pytest.mark.parametrize(
    "password", ["x" * 10, "x" * 1024, " é🙂\0'\"<b>%00;--", "  spaces  count "]
)
def test_everything_else_may_be_one(database: Database, password: str) -> None:
    passwords.reset(database, password)
    assert sign_in(database, password) is not None
    assert sign_in(database, password.strip() + "x") is None


def test_two_spellings_of_a_letter_are_one_password(database: Database) -> None:
    passwords.reset(database, "caf\u00e9 au lait")
    assert sign_in(database, "cafe\u0301 au lait") is not None


def test_text_that_is_no_text_is_only_wrong(database: Database) -> None:
    passwords.reset(database, GOOD)
    assert sign_in(database, "\ud800" * 12) is None


def test_the_first_password_needs_no_current_one_and_a_second_does(database: Database) -> None:
    change(database, "", GOOD)
    for current in ("", "something else", "another horse"):
        with pytest.raises(PasswordRefusedError) as refused:
            change(database, current, "another horse")
        assert (refused.value.status, refused.value.field) == (403, "current")
    assert sign_in(database, GOOD) is not None
    change(database, GOOD, "another horse")
    assert sign_in(database, GOOD) is None
    assert sign_in(database, "another horse") is not None


def test_a_password_typed_differently_twice_is_refused(database: Database) -> None:
    with pytest.raises(PasswordRefusedError) as refused:
        change(database, "", GOOD, GOOD + "x")
    assert refused.value.field == "again"
    assert not users.password_exists(database)


@pytest.mark.parametrize("how", ["set", "change", "reset"])
def test_setting_a_password_ends_every_login_and_link(database: Database, how: str) -> None:
    if how == "change":
        passwords.reset(database, GOOD)
    with database.session() as db:
        logins.begin(db, users.operator(db).id, days=1)
    before = signed_in(database)
    link = issue_sign_in_link(database)
    if how == "reset":
        passwords.reset(database, GOOD)
        assert signed_in(database) == []
    else:
        new = change(database, GOOD, GOOD)
        assert signed_in(database) == [new.login.id]
        assert new.login.id not in before
    with database.session() as db:
        assert not links.consume(db, link)


def test_a_login_that_began_while_the_password_changed_is_none(
    database: Database, quick_hashing: PasswordHasher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the check and the login somebody else changes the password."""
    passwords.reset(database, GOOD)

    class Slow(PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:  # noqa: A002
            right = quick_hashing.verify(hash, password)
            with database.session() as db:
                user = users.operator(db)
                user.password_hash = quick_hashing.hash("another horse")
                db.add(user)
            return right

    monkeypatch.setattr(passwords, "_hasher", Slow(time_cost=1, memory_cost=8, parallelism=1))
    assert sign_in(database, GOOD) is None
    assert signed_in(database) == []
    with database.session() as db:
        user = users.operator(db)
        user.password_hash = quick_hashing.hash(GOOD)
        db.add(user)
    with pytest.raises(PasswordRefusedError) as refused:
        change(database, GOOD, "third horse")
    assert refused.value.status == 409


def test_a_hash_of_older_parameters_is_made_anew(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    passwords.reset(database, GOOD)
    before = stored(database)
    assert sign_in(database, GOOD) is not None
    assert stored(database) == before
    stronger = PasswordHasher(time_cost=2, memory_cost=16, parallelism=1)
    monkeypatch.setattr(passwords, "_hasher", stronger)
    assert sign_in(database, GOOD + "x") is None
    assert stored(database) == before
    assert sign_in(database, GOOD) is not None
    after = stored(database)
    assert after is not None
    assert not stronger.check_needs_rehash(after)
    assert sign_in(database, GOOD) is not None


def test_a_damaged_hash_lets_nobody_in(database: Database) -> None:
    with database.session() as db:
        user = users.operator(db)
        user.password_hash = "damaged"
        db.add(user)
    assert sign_in(database, "damaged") is None
    passwords.reset(database, GOOD)
    assert sign_in(database, GOOD) is not None


def test_a_refusal_costs_as_much_without_a_password(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    worked: list[str] = []

    class Counting(PasswordHasher):
        def hash(self, *_: object, **__: object) -> str:
            worked.append("hash")
            return ""

    monkeypatch.setattr(passwords, "_hasher", Counting())
    assert sign_in(database, GOOD) is None
    with database.session() as db:
        users.operator(db)
    assert sign_in(database, GOOD) is None
    assert worked == ["hash", "hash"]
