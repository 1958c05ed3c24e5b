"""Encrypting with a new key what an older one encrypted."""

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Update, update
from sqlmodel import Session, col, select

from app.db import tables
from app.db.engine import Database
from app.db.tables import Server, ServerCredential
from app.mcp.credentials import SALT
from app.mcp.wallet import belongs_to
from app.vault import UndecryptableError, Vault


class _Sealed(NamedTuple):
    """``row`` updates the row that holds it, if it still does."""

    belongs_to: str
    sealed: bytes
    row: Update
    column: str

    def values(self, sealed: bytes) -> dict[str, bytes | str]:
        return {self.column: sealed.hex() if self.column == "value" else sealed}


def is_left_over(database: Database, vault: Vault) -> bool:
    """Whether something is encrypted with a key that is known, but is not the first one."""
    with database.session() as db:
        return any(vault.is_older(one.sealed) for one in _all(db))


def encrypt_anew(database: Database, vault: Vault) -> tuple[int, int]:
    """Encrypt with the first key what another one encrypted: (credentials that were, those that
    no key opens). Each by itself, and only if it is still what was read: a credential that is
    replaced meanwhile stays replaced.
    """
    done = lost = 0
    with database.session() as db:
        found = list(_all(db))
    for one in found:
        if vault.is_current(one.sealed):
            continue
        is_credential = one.column == "sealed"
        try:
            text = vault.open(one.sealed, one.belongs_to)
        except UndecryptableError:
            lost += is_credential
            continue
        with database.session() as db:
            db.execute(one.row.values(one.values(vault.seal(text, one.belongs_to))))
        done += is_credential
    return done, lost


def _all(db: Session) -> Iterator[_Sealed]:
    rows = db.exec(
        select(ServerCredential, Server).join(
            Server, col(Server.id) == col(ServerCredential.server_id)
        )
    )
    for row, server in rows:
        if row.sealed is not None:
            yield _Sealed(
                belongs_to(server, row.header),
                row.sealed,
                update(ServerCredential).where(
                    col(ServerCredential.server_id) == row.server_id,
                    col(ServerCredential.header) == row.header,
                    col(ServerCredential.sealed) == row.sealed,
                ),
                "sealed",
            )
    setting = db.get(tables.Setting, SALT)
    if setting is not None:
        yield _Sealed(
            SALT,
            bytes.fromhex(setting.value),
            update(tables.Setting).where(
                col(tables.Setting.key) == SALT, col(tables.Setting.value) == setting.value
            ),
            "value",
        )
