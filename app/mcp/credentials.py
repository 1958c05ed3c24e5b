"""The operator's credentials of servers, as they are stored: never in the clear."""

import re
import secrets
from typing import Final

from sqlalchemy import delete
from sqlmodel import Session, col, select

from app.db import tables
from app.db.engine import Database
from app.db.tables import Server, ServerCredential
from app.db.upsert import insert_once, upsert
from app.errors import NotFoundError, VitrineError
from app.mcp import copies
from app.mcp.wallet import Wallet, belongs_to, is_header, is_value, may_hold_credential
from app.vault import UndecryptableError, Vault

AUTHORIZATION: Final = "Authorization"
BEARER: Final = "Bearer "
MAX_CREDENTIALS: Final = 20
SALT: Final = "credentials.salt"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


def of_servers(db: Session) -> dict[int, tuple[ServerCredential, ...]]:
    """Every server's, by its id."""
    found: dict[int, list[ServerCredential]] = {}
    for row in db.exec(select(ServerCredential).order_by(col(ServerCredential.header))):
        found.setdefault(row.server_id, []).append(row)
    return {server_id: tuple(rows) for server_id, rows in found.items()}


def of_server(db: Session, server_id: int) -> tuple[ServerCredential, ...]:
    query = select(ServerCredential).where(ServerCredential.server_id == server_id)
    return tuple(db.exec(query.order_by(col(ServerCredential.header))))


def put(
    db: Session,
    wallet: Wallet,
    server: Server,
    name: str,
    *,
    value: str = "",
    variable: str = "",
    scheme: str = "",
) -> None:
    """Send header ``name`` to ``server`` from now on: ``value``, or what ``variable`` holds, with
    ``scheme`` (``"Bearer "``) before it. Takes the place of one of the same name.

    Raises ``VitrineError`` with the sentence for whoever filled in the form.
    """
    name, value, variable = name.strip(), value.strip(), variable.strip()
    _check_name(name)
    if bool(value) == bool(variable):
        raise VitrineError(400, "Give either the value itself or the variable that holds it.")
    header = name.lower()
    others = {row.header for row in of_server(db, _id(server))} - {header}
    if len(others) >= MAX_CREDENTIALS:
        raise VitrineError(400, f"A server has at most {MAX_CREDENTIALS} credentials.")
    sealed = None
    if variable:
        if not _VARIABLE.fullmatch(variable):
            raise VitrineError(400, "This is not the name of a variable.")
        if variable not in wallet.variables(server):
            raise VitrineError(
                400,
                "Vitrine may not send this variable to this server. Add it to "
                "VITRINE_CREDENTIAL_VARIABLES first.",
            )
    else:
        if scheme and value.lower().startswith(scheme.lower()):
            value = value[len(scheme) :].lstrip()
        value = scheme + value
        if not is_value(value):
            raise VitrineError(
                400,
                "A value is printable ASCII on one line, of at most 8,192 characters.",
            )
        sealed = wallet.vault.seal(value, belongs_to(server, header))
    values = {
        "server_id": _id(server),
        "header": header,
        "name": name,
        "reference": f"{scheme}${{{variable}}}" if variable else "",
        "sealed": sealed,
        "set_at": tables.now(),
    }
    upsert(db, ServerCredential, values, ["server_id", "header"])
    # What was read as somebody else.
    copies.forget(db, server.url)


def remove(db: Session, server: Server, header: str) -> None:
    """Raises ``NotFoundError``."""
    row = db.get(ServerCredential, (_id(server), header.lower()))
    if row is None:
        raise NotFoundError("This server has no such credential.")
    db.delete(row)
    copies.forget(db, server.url)


def forget(db: Session, server: Server) -> None:
    """All of them: the server has moved, and they were not given for where it is now."""
    db.execute(delete(ServerCredential).where(col(ServerCredential.server_id) == _id(server)))


def salt(database: Database, vault: Vault) -> bytes:
    """What keys the fingerprints of targets: made once, kept encrypted, so that no rotation of
    the key costs the copies of what servers listed. Where it cannot be decrypted, a new one.
    """
    for _ in range(2):
        with database.session() as db:
            row = db.get(tables.Setting, SALT)
        if row is not None:
            try:
                return bytes.fromhex(vault.open(bytes.fromhex(row.value), SALT))
            except (UndecryptableError, ValueError):
                with database.session() as db:
                    db.execute(
                        delete(tables.Setting).where(
                            col(tables.Setting.key) == SALT,
                            col(tables.Setting.value) == row.value,
                        )
                    )
        made = vault.seal(secrets.token_hex(32), SALT).hex()
        with database.session() as db:
            # Of several processes that start at once, the first one's counts.
            insert_once(db, tables.Setting, {"key": SALT, "value": made}, ["key"])
    with database.session() as db:
        row = db.get(tables.Setting, SALT)
    return bytes.fromhex(vault.open(bytes.fromhex(row.value), SALT)) if row else b""


def _id(server: Server) -> int:
    if server.id is None:
        raise AssertionError("a stored server has an id")
    return server.id


def _check_name(name: str) -> None:
    if not is_header(name):
        raise VitrineError(
            400, "A header’s name is 1 to 100 letters, digits and signs such as - and _."
        )
    if not may_hold_credential(name):
        raise VitrineError(
            400, "This header belongs to the connection or the protocol: Vitrine sets it itself."
        )
