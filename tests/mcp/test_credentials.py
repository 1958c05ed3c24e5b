"""The operator's credentials in the database, and their encryption anew."""

from typing import Any

import pytest
from sqlmodel import select

from app.db import tables
from app.db.engine import Database
from app.db.tables import Server, ServerCredential
from app.errors import NotFoundError, VitrineError
from app.mcp import copies, credentials, registry, rotation
from app.mcp.tool_index import ToolIndex
from app.mcp.wallet import Claims, Wallet
from app.vault import Vault

URL = "https://mcp.example/mcp"
OLD, NEW = "old-" * 10, "new-" * 10
SECRET = "sentinel-token"


def vault(*keys: str) -> Vault:
    return Vault(lambda: list(keys))


WALLET = Wallet(vault(OLD), {"LISTED"}, {"LISTED": "x"})


def add(database: Database, name: str = "a", url: str = URL) -> Server:
    with database.session() as db:
        return registry.add_server(db, name, url)


def put(database: Database, server: Server, name: str = "Authorization", **given: Any) -> None:
    with database.session() as db:
        credentials.put(db, WALLET, server, name, **({"value": SECRET} | given))


def stored(database: Database, server: Server) -> tuple[ServerCredential, ...]:
    with database.session() as db:
        return credentials.of_server(db, server.id or 0)


def sent(database: Database, server: Server, wallet: Wallet = WALLET) -> dict[str, str]:
    return dict(wallet.target(server, Claims(stored(database, server))).headers)


def test_what_is_stored_is_not_the_value(database: Database) -> None:
    server = add(database)
    put(database, server)
    (row,) = stored(database, server)
    assert SECRET not in repr(row)
    assert SECRET.encode() not in (row.sealed or b"")
    assert sent(database, server) == {"Authorization": SECRET}


def test_one_of_the_same_name_is_replaced(database: Database) -> None:
    server = add(database)
    put(database, server, "X-Key")
    put(database, server, "x-key", value="other")
    assert sent(database, server) == {"x-key": "other"}
    put(database, server, "X-KEY", value="", variable="LISTED")
    (row,) = stored(database, server)
    assert (row.sealed, row.reference) == (None, "${LISTED}")


@pytest.mark.parametrize(
    "given",
    [
        {"name": "Host"},
        {"name": "X Key"},
        {"name": "X-Key\r\nX-Other: y"},
        {"name": ""},
        {"value": "a\r\nX-Other: y"},
        {"value": "a\nb"},
        {"value": "käse"},
        {"value": "x" * 8_193},
        {"value": ""},
        {"value": "x", "variable": "LISTED"},
        {"value": "", "variable": "SECRET"},
        {"value": "", "variable": "LISTED}"},
    ],
)
def test_what_cannot_be_sent_is_refused_and_not_repeated(
    database: Database, given: dict[str, str]
) -> None:
    server = add(database)
    with pytest.raises(VitrineError) as caught:
        put(database, server, **given)
    assert caught.value.status == 400
    for value in given.values():
        assert not value or value not in caught.value.sentence
    assert stored(database, server) == ()


def test_a_bearer_token_may_be_pasted_with_its_scheme(database: Database) -> None:
    server = add(database)
    for typed in (SECRET, f"Bearer {SECRET}", f" bearer {SECRET}\n"):
        put(database, server, value=typed, scheme="Bearer ")
        assert sent(database, server) == {"Authorization": f"Bearer {SECRET}"}


def test_a_server_has_twenty_at_most(database: Database) -> None:
    server = add(database)
    for number in range(credentials.MAX_CREDENTIALS):
        put(database, server, f"X-{number}")
    put(database, server, "X-3", value="again")
    with pytest.raises(VitrineError):
        put(database, server, "X-20")


def test_ciphertexts_cannot_be_swapped_between_rows(database: Database) -> None:
    """Whoever may write to the database must not get a token sent elsewhere."""
    server, other = add(database), add(database, "b", "https://evil.example/mcp")
    put(database, server)
    put(database, other, value="another")
    put(database, server, "X-Key", value="third")
    with database.session() as db:
        rows = {(r.server_id, r.header): r for r in db.exec(select(ServerCredential))}
        token = rows[(server.id or 0, "authorization")].sealed
        for place in ((other.id or 0, "authorization"), (server.id or 0, "x-key")):
            rows[place].sealed = token
            db.add(rows[place])
    assert sent(database, other) == {}
    assert sent(database, server) == {"Authorization": SECRET}


def test_an_address_that_is_changed_in_the_database_gets_no_token(database: Database) -> None:
    server = add(database)
    put(database, server)
    with database.session() as db:
        row = db.get_one(Server, server.id)
        row.url = "https://evil.example/mcp"
        db.add(row)
    with database.session() as db:
        assert sent(database, db.get_one(Server, server.id)) == {}


def test_at_another_address_they_are_gone(database: Database) -> None:
    server = add(database)
    put(database, server)
    with database.session() as db:
        registry.edit_server(db, server.id or 0, URL, "sse")
    assert len(stored(database, server)) == 1
    with database.session() as db:
        registry.edit_server(db, server.id or 0, "https://mcp.example/other", "sse")
    assert stored(database, server) == ()


def test_with_the_server_they_go(database: Database) -> None:
    server = add(database)
    put(database, server)
    with database.session() as db:
        registry.remove_server(db, server.id or 0)
    assert stored(database, server) == ()


def test_what_was_read_as_somebody_else_is_forgotten(database: Database) -> None:
    server = add(database)

    def kept() -> bool:
        with database.session() as db:
            return copies.load_tools(db, (URL, "fingerprint")) is not None

    for change in (put, remove):
        with database.session() as db:
            copies.save_tools(db, (URL, "fingerprint"), ToolIndex())
        change(database, server)
        assert not kept()


def remove(database: Database, server: Server) -> None:
    with database.session() as db:
        credentials.remove(db, server, "Authorization")


def test_one_that_is_not_there_cannot_be_removed(database: Database) -> None:
    server = add(database)
    with pytest.raises(NotFoundError):
        remove(database, server)


def test_the_salt_is_made_once_and_kept_encrypted(database: Database) -> None:
    salt = credentials.salt(database, vault(OLD))
    assert len(salt) == 32
    assert credentials.salt(database, vault(NEW, OLD)) == salt
    with database.session() as db:
        assert salt.hex() not in db.get_one(tables.Setting, credentials.SALT).value


def test_a_salt_that_no_key_opens_is_made_anew(database: Database) -> None:
    salt = credentials.salt(database, vault(OLD))
    assert credentials.salt(database, vault(NEW)) not in (salt, b"")


def test_all_is_encrypted_anew(database: Database) -> None:
    server, other = add(database), add(database, "b", "https://b.example/mcp")
    put(database, server)
    put(database, server, "X-Key", value="", variable="LISTED")
    put(database, other)
    salt = credentials.salt(database, vault(OLD))
    both = vault(NEW, OLD)
    assert rotation.is_left_over(database, both)
    assert rotation.encrypt_anew(database, both) == (2, 0)
    assert not rotation.is_left_over(database, both)
    alone = vault(NEW)
    assert sent(database, server, Wallet(alone, {"LISTED"}, {"LISTED": "x"})) == {
        "Authorization": SECRET,
        "X-Key": "x",
    }
    assert credentials.salt(database, alone) == salt
    assert rotation.encrypt_anew(database, both) == (0, 0)


class KilledError(Exception):
    pass


@pytest.mark.parametrize("after", [0, 1, 2])
def test_killed_in_the_middle_everything_opens_and_it_goes_on(
    database: Database, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = add(database)
    for number in range(3):
        put(database, server, f"X-{number}")
    both, sealed = vault(NEW, OLD), 0
    seal = Vault.seal

    def seal_until_killed(self: Vault, text: str, belongs_to: str) -> bytes:
        nonlocal sealed
        if sealed == after:
            raise KilledError
        sealed += 1
        return seal(self, text, belongs_to)

    monkeypatch.setattr(Vault, "seal", seal_until_killed)
    with pytest.raises(KilledError):
        rotation.encrypt_anew(database, both)
    monkeypatch.undo()
    assert set(sent(database, server, Wallet(both)).values()) == {SECRET}
    assert rotation.encrypt_anew(database, both) == (3 - after, 0)
    assert len(sent(database, server, Wallet(vault(NEW)))) == 3


def test_a_credential_that_is_replaced_meanwhile_stays_replaced(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = add(database)
    put(database, server)
    both = vault(NEW, OLD)
    real = Vault.open

    def replaced_meanwhile(self: Vault, sealed: bytes, belongs_to: str) -> str:
        monkeypatch.undo()
        put(database, server, value="newer")
        return real(self, sealed, belongs_to)

    monkeypatch.setattr(Vault, "open", replaced_meanwhile)
    rotation.encrypt_anew(database, both)
    assert sent(database, server, Wallet(both)) == {"Authorization": "newer"}


def test_what_no_key_opens_is_counted_and_left(database: Database) -> None:
    server = add(database)
    put(database, server)
    assert rotation.encrypt_anew(database, vault(NEW)) == (0, 1)
    assert not rotation.is_left_over(database, vault(NEW))
    assert sent(database, server) == {"Authorization": SECRET}
