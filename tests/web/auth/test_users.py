"""People: what they may be called, and that somebody always stays operator."""

from threading import Barrier, Thread

import pytest

from app.db.engine import Database
from app.db.tables import Role
from app.errors import NotFoundError, VitrineError
from app.web.auth import users


def roles(database: Database) -> dict[str, Role]:
    with database.session() as db:
        return {user.name: users.role_of(user) for user in users.everybody(db)}


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("anna", "anna"),
        (" Anna ", "anna"),
        ("anna.b@example.org", "anna.b@example.org"),
        ("a", "a"),
        ("x" * 64, "x" * 64),
    ],
)
def test_a_name_is_stored_in_one_spelling(database: Database, name: str, stored: str) -> None:
    with database.session() as db:
        assert users.add(db, name, Role.VIEWER).name == stored
        found = users.find(db, name.upper())
        assert found is not None
        assert found.name == stored
        with pytest.raises(VitrineError, match="already"):
            users.add(db, stored.upper(), Role.OPERATOR)


@pytest.mark.parametrize(
    "name",
    ["", " ", "x" * 65, "a b", ".a", "a.", "änna", "a\nb", "a\0", "<b>", "a/b", "a,b", "\u202ea"],
)
def test_what_is_no_name_is_refused(database: Database, name: str) -> None:
    with database.session() as db:
        with pytest.raises(VitrineError) as refused:
            users.add(db, name, Role.VIEWER)
        assert refused.value.status == 400
        assert users.find(db, name) is None
        with pytest.raises(NotFoundError):
            users.named(db, name)


def test_the_last_operator_stays(database: Database) -> None:
    with database.session() as db:
        users.operator(db)
        users.add(db, "anna", Role.VIEWER)
    with pytest.raises(VitrineError, match="Somebody must be"), database.session() as db:
        users.set_role(db, users.named(db, "operator"), Role.VIEWER)
    with pytest.raises(VitrineError, match="Somebody must be"), database.session() as db:
        users.remove(db, users.named(db, "operator"))
    assert roles(database) == {"operator": Role.OPERATOR, "anna": Role.VIEWER}
    with database.session() as db:
        users.set_role(db, users.named(db, "anna"), Role.OPERATOR)
    with database.session() as db:
        users.remove(db, users.named(db, "operator"))
        # Whoever is left is whom the machine's own links are for.
        assert users.operator(db).name == "anna"
    assert roles(database) == {"anna": Role.OPERATOR}


@pytest.mark.parametrize("how", ["role", "remove"])
def test_of_two_operators_who_do_it_to_each_other_one_stays(database: Database, how: str) -> None:
    for _ in range(5):
        with database.session() as db:
            for user in users.everybody(db):
                db.delete(user)
        with database.session() as db:
            users.add(db, "anna", Role.OPERATOR)
            users.add(db, "bert", Role.OPERATOR)
        barrier = Barrier(2)

        def act(name: str, barrier: Barrier = barrier) -> None:
            try:
                with database.session() as db:
                    user = users.named(db, name)
                    barrier.wait(10)
                    if how == "role":
                        users.set_role(db, user, Role.VIEWER)
                    else:
                        users.remove(db, user)
            except VitrineError:
                pass

        threads = [Thread(target=act, args=(name,)) for name in ("anna", "bert")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert list(roles(database).values()).count(Role.OPERATOR) == 1


def test_the_first_person_is_made_when_nobody_is_operator(database: Database) -> None:
    with database.session() as db:
        assert users.find_operator(db) is None
        assert users.named(db, "Operator").role == Role.OPERATOR
    with database.session() as db, pytest.raises(NotFoundError, match="anna"):
        users.named(db, "anna")
