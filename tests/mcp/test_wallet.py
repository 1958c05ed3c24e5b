"""As whom a server is contacted: the operator's credentials, and a session's own."""

import pytest

from app.db.tables import Server, ServerCredential
from app.mcp.target import Target
from app.mcp.wallet import Claims, Wallet, belongs_to, may_hold_credential
from app.vault import Vault

SERVER = Server(id=1, url="https://mcp.example/mcp")
VAULT = Vault(lambda: ["a key " * 10])
ENVIRONMENT = {
    "LISTED": "from the list\n",
    "SECRET": "not for anybody",
    "EMPTY": " ",
    "BROKEN": "two\nlines",
}
WALLET = Wallet(VAULT, {"LISTED", "EMPTY", "BROKEN", "UNSET"}, ENVIRONMENT, salt=b"salt")


def stored(header: str, value: str = "", reference: str = "") -> ServerCredential:
    sealed = VAULT.seal(value, belongs_to(SERVER, header.lower())) if value else None
    return ServerCredential(
        server_id=1, header=header.lower(), name=header, reference=reference, sealed=sealed
    )


def target(*rows: ServerCredential, **own: str) -> Target:
    headers = tuple((name.replace("_", "-"), value) for name, value in own.items())
    return WALLET.target(SERVER, Claims(rows, headers))


def test_the_operator_s_credentials_go_along() -> None:
    found = target(stored("Authorization", "Bearer x"), stored("X-Key", reference="${LISTED}"))
    assert found.headers == (("Authorization", "Bearer x"), ("X-Key", "from the list"))
    assert (found.trouble, found.notes) == ("", ())


def test_a_session_s_own_header_is_filled_from_the_list() -> None:
    found = target(Authorization="Bearer ${LISTED}")
    assert found.headers == (("Authorization", "Bearer from the list"),)


def test_a_session_cannot_pull_a_variable_that_is_not_listed() -> None:
    found = target(Authorization="Bearer ${SECRET}")
    assert found.headers == ()
    assert "not for anybody" not in repr(found)
    (note,) = found.notes
    assert "add SECRET to VITRINE_CREDENTIAL_VARIABLES" in note
    assert found.trouble == ""


@pytest.mark.parametrize(
    "reference",
    ["${LISTED}${SECRET}", "x ${SECRET}", "$SECRET", "${SECRET:-${LISTED}}", "Bearer x"],
)
def test_only_a_plain_reference_is_filled_in(reference: str) -> None:
    found = target(Authorization=reference)
    assert found.headers == ()
    assert len(found.notes) == 1


@pytest.mark.parametrize(
    ("variable", "why"),
    [("EMPTY", "is not set"), ("UNSET", "is not set"), ("BROKEN", "cannot stand in a header")],
)
def test_nothing_is_sent_blank(variable: str, why: str) -> None:
    found = target(Authorization=f"Bearer ${{{variable}}}")
    assert found.headers == ()
    assert f"{variable}, w" in found.notes[0]
    assert why in found.notes[0]
    by_operator = target(stored("Authorization", reference=f"Bearer ${{{variable}}}"))
    assert by_operator.headers == ()
    assert why in by_operator.trouble


def test_a_session_s_own_goes_before_the_operator_s() -> None:
    found = target(stored("authorization", "Bearer operator"), Authorization="Bearer ${LISTED}")
    assert found.headers == (("Authorization", "Bearer from the list"),)


@pytest.mark.parametrize("own", ["Bearer ${SECRET}", ""])
def test_the_operator_s_stands_in_for_what_the_session_lacks(own: str) -> None:
    found = target(stored("Authorization", "Bearer operator"), Authorization=own)
    assert found.headers == (("Authorization", "Bearer operator"),)
    assert found.notes == ()


def test_a_value_that_no_key_opens_is_said_and_nothing_is_sent() -> None:
    other = Wallet(Vault(lambda: ["another key " * 5]))
    found = other.target(SERVER, Claims((stored("Authorization", "Bearer x"),)))
    assert found.headers == ()
    assert "cannot be decrypted" in found.trouble


@pytest.mark.parametrize(
    "server",
    [
        Server(id=2, url=SERVER.url),
        Server(id=1, url="https://elsewhere.example/mcp"),
    ],
)
def test_a_value_opens_for_its_own_server_and_address_only(server: Server) -> None:
    found = WALLET.target(server, Claims((stored("Authorization", "Bearer x"),)))
    assert found.headers == ()
    assert "cannot be decrypted" in found.trouble


def test_a_value_opens_for_its_own_header_only() -> None:
    swapped = stored("X-Public", "Bearer x").model_copy(update={"header": "x-other"})
    found = WALLET.target(SERVER, Claims((swapped,)))
    assert "cannot be decrypted" in found.trouble


@pytest.mark.parametrize(
    "name",
    [
        "Host",
        "content-length",
        "Transfer-Encoding",
        "Connection",
        "Accept",
        "accept-encoding",
        "Mcp-Session-Id",
        "Cookie",
        "Proxy-Authorization",
        "X-Forwarded-For",
        "",
        "a b",
        "a:b",
        "a\r\nb",
        "ä",
    ],
)
def test_a_header_of_the_connection_is_nobody_s_credential(name: str) -> None:
    assert not may_hold_credential(name)
    assert WALLET.target(SERVER, Claims((), ((name, "${LISTED}"),))).headers == ()


def test_each_credential_has_a_key_of_its_own() -> None:
    keys = {
        target().key,
        target(stored("Authorization", "Bearer x")).key,
        target(stored("Authorization", "Bearer y")).key,
        target(stored("X-Key", "Bearer x")).key,
        target(Authorization="Bearer ${LISTED}").key,
        Wallet(Vault(lambda: ["another " * 9]))
        .target(SERVER, Claims((stored("Authorization", "Bearer x"),)))
        .key,
    }
    assert len(keys) == 6


def test_a_stored_fingerprint_cannot_be_guessed_at_without_the_salt() -> None:
    headers = (("Authorization", "Bearer weak"),)
    keyed = Target(SERVER.url, headers=headers, salt=b"salt").key
    assert keyed != Target(SERVER.url, headers=headers, salt=b"").key
    assert keyed != Target(SERVER.url, headers=headers, salt=b"other").key
    assert target(stored("Authorization", "Bearer weak")).key == keyed


@pytest.mark.parametrize("host", ["mcp.example", "MCP.example"])
def test_a_variable_may_be_for_one_host_alone(host: str) -> None:
    """Whoever writes a session's configuration must not send one server's token to another."""
    wallet = Wallet(VAULT, {f"LISTED@{host}"}, ENVIRONMENT)
    claims = Claims((), (("Authorization", "Bearer ${LISTED}"),))
    there = Server(id=1, url="https://mcp.example:8443/mcp")
    assert wallet.target(there, claims).headers == (("Authorization", "Bearer from the list"),)
    elsewhere = wallet.target(Server(id=2, url="https://other.example/mcp"), claims)
    assert elsewhere.headers == ()
    assert "may not send to this server" in elsewhere.notes[0]
