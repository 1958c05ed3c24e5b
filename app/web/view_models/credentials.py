"""A server's page: as whom it is contacted. No value of a credential is ever in here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

from app.db.tables import Server, ServerCredential
from app.mcp.registry import STDIO
from app.mcp.urls import is_private
from app.mcp.wallet import Wallet, may_hold_credential
from app.text import one_line

BEARER_KIND: Final = "bearer"
HEADER_KIND: Final = "header"
KINDS: Final[Mapping[str, str]] = {
    BEARER_KIND: "Bearer token (Authorization)",
    HEADER_KIND: "Another header",
}


@dataclass(frozen=True, slots=True)
class CredentialView:
    """``source`` says where the value is; ``trouble`` why it cannot be sent, or is empty."""

    header: str
    name: str
    source: str
    variable: str
    set_at: datetime
    trouble: str

    @classmethod
    def of(cls, server: Server, row: ServerCredential, wallet: Wallet) -> Self:
        rest = row.reference.rpartition("${")[2]
        return cls(
            header=row.header,
            name=one_line(row.name, 100),
            source="stored encrypted" if row.sealed is not None else "",
            variable=one_line(rest.removesuffix("}"), 100),
            set_at=row.set_at,
            trouble=wallet.trouble(server, row),
        )


@dataclass(frozen=True, slots=True)
class AskedView:
    """A header in the configuration of sessions that name this server; ``state`` is a sentence."""

    name: str
    state: str
    works: bool


@dataclass(frozen=True, slots=True)
class CredentialsView:
    """``kind``, ``header`` and ``variable`` are what the form holds; a value never is there."""

    rows: list[CredentialView]
    asked: list[AskedView]
    variables: list[str]
    unencrypted: bool
    kind: str
    header: str
    variable: str

    @classmethod
    def of(
        cls,
        server: Server,
        stored: Sequence[ServerCredential],
        asked: Sequence[tuple[str, str]],
        wallet: Wallet,
        **form: str,
    ) -> Self:
        held = {row.header for row in stored}
        return cls(
            rows=[CredentialView.of(server, row, wallet) for row in stored],
            asked=[_asked(server, name, reference, held, wallet) for name, reference in asked],
            variables=wallet.variables(server) if server.transport != STDIO else [],
            unencrypted=server.transport != STDIO
            and server.url.startswith("http://")
            and not is_private(server.url),
            kind=form.get("kind", BEARER_KIND),
            header=form.get("header", ""),
            variable=form.get("variable", ""),
        )

    @property
    def kinds(self) -> Mapping[str, str]:
        return KINDS


def _asked(server: Server, name: str, reference: str, held: set[str], wallet: Wallet) -> AskedView:
    shown = one_line(name, 100)
    stands_in = " The one above goes in its place." if name.lower() in held else ""
    if not may_hold_credential(name):
        return AskedView(shown, "Not sent: Vitrine sets this header itself.", works=False)
    if not reference:
        said = "Its value stands in the configuration itself, which Vitrine does not keep."
        return AskedView(shown, said + (stands_in or " Enter it above if it is needed."), False)
    trouble = wallet.trouble_of_reference(server, reference)
    if trouble:
        return AskedView(shown, trouble + stands_in, works=False)
    return AskedView(shown, f"Filled in from {reference} for the calls of those sessions.", True)
