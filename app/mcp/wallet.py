"""As whom a server is contacted: its credentials, made into the headers of a target.

Two may have a say. The operator enters credentials for a server; those go along with every
request to it, or there is no request. And the configuration of a session may name variables of
the environment; for that session's own calls they are filled in, from the operator's list alone,
since whoever writes the repository writes that configuration.
"""

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from app.db.tables import Server, ServerCredential
from app.mcp.target import Target
from app.mcp.urls import host_of
from app.settings import Settings
from app.text import one_line
from app.vault import UndecryptableError, Vault

# What can be sent as it is: no line break, nothing that needs an encoding.
_VALUE = re.compile(r"[\x21-\x7e]([\x20-\x7e]{0,8190}[\x21-\x7e])?")
_REFERENCE = re.compile(
    r"(?P<scheme>(?:Bearer|Basic|Token) )?\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]{0,99})\}"
)
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
# The connection's own, the protocol's, and what says where a request is to go.
_NOT_A_CREDENTIAL: Final = frozenset(
    {
        "connection", "content-encoding", "content-length", "content-type", "cookie", "date",
        "expect", "host", "keep-alive", "last-event-id", "origin", "range", "referer",
        "set-cookie", "te", "trailer", "transfer-encoding", "upgrade", "via",
    }
)  # fmt: skip
_NOT_A_CREDENTIAL_FAMILY: Final = ("accept", "mcp-", "proxy-", "sec-", "x-forwarded-", "forwarded")


def is_value(value: str) -> bool:
    """Whether ``value`` can stand in a header: printable ASCII, up to 8,192 characters."""
    return _VALUE.fullmatch(value) is not None


def is_header(name: str) -> bool:
    """Whether ``name`` is spelt as a header is."""
    return _NAME.fullmatch(name) is not None


def may_hold_credential(name: str) -> bool:
    """Whether header ``name`` may be set for a server: none that the protocol or HTTP needs."""
    lower = name.lower()
    return (
        is_header(name)
        and lower not in _NOT_A_CREDENTIAL
        and not lower.startswith(_NOT_A_CREDENTIAL_FAMILY)
    )


@dataclass(frozen=True, slots=True)
class Claims:
    """What a server is to be given. ``stored``: the operator's; ``own``: header → a reference
    (``Bearer ${VAR}``) or "", as the session's configuration has it.
    """

    stored: tuple[ServerCredential, ...] = ()
    own: tuple[tuple[str, str], ...] = ()


NOTHING: Final = Claims()


class UnusableError(Exception):
    """``why`` a value cannot be had: the end of a sentence about it."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def belongs_to(server: Server, header: str) -> str:
    """What a sealed value is bound to. The address too: at another one it must not be sent."""
    return f"credential\0{server.id}\0{server.url}\0{header}"


class Wallet:
    """``listed`` are the variables that may be used, ``NAME`` for any server that is allowed or
    ``NAME@host`` for those at ``host``; ``environment`` is where they are.
    ``salt`` keys the fingerprints of what was contacted with credentials.
    """

    def __init__(
        self,
        vault: Vault,
        listed: Collection[str] = (),
        environment: Mapping[str, str] | None = None,
        salt: bytes = b"",
    ) -> None:
        self.vault = vault
        self._listed = frozenset(listed)
        self._environment = os.environ if environment is None else environment
        self._salt = salt

    @classmethod
    def of(cls, settings: Settings, vault: Vault, salt: bytes) -> "Wallet":
        return cls(vault, settings.listed_variables, salt=salt)

    @classmethod
    def empty(cls) -> "Wallet":
        """Without keys and variables: no credential can be had."""
        return cls(Vault(list), environment={})

    def target(self, server: Server, claims: Claims = NOTHING) -> Target:
        """Where and as whom to connect to ``server`` for these claims."""
        headers: dict[str, tuple[str, str]] = {}
        unfilled: dict[str, str] = {}
        for name, reference in claims.own:
            if not reference or not may_hold_credential(name):
                continue
            try:
                headers[name.lower()] = (name, self._filled_in(server, reference))
            except UnusableError as error:
                unfilled[name.lower()] = (
                    f"The session’s own configuration gives the header {one_line(name, 100)} a "
                    f"value that {error.why}"
                )
        troubles = []
        for credential in claims.stored:
            # Who has one of their own is not to act as the operator.
            if credential.header in headers:
                continue
            unfilled.pop(credential.header, None)
            try:
                headers[credential.header] = (credential.name, self.value(server, credential))
            except UnusableError as error:
                troubles.append(
                    f"The credential {one_line(credential.name, 100)} of this server {error.why}"
                )
        return Target(
            url=server.url,
            transport=server.transport,
            headers=tuple(headers.values()),
            private_ok=server.private_confirmed,
            salt=self._salt,
            trouble=" ".join(troubles),
            notes=tuple(unfilled.values()),
        )

    def value(self, server: Server, credential: ServerCredential) -> str:
        """What is sent. Raises ``UnusableError``."""
        if credential.sealed is None:
            return self._filled_in(server, credential.reference)
        try:
            return self.vault.open(credential.sealed, belongs_to(server, credential.header))
        except UndecryptableError:
            raise UnusableError(
                "cannot be decrypted: the secret key is another one than when it was entered. "
                "Put the old key back, or enter the credential anew on the server’s page."
            ) from None

    def trouble(self, server: Server, credential: ServerCredential) -> str:
        """Why it cannot be sent, as a sentence; "" if it can."""
        try:
            self.value(server, credential)
        except UnusableError as error:
            return error.why[:1].upper() + error.why[1:]
        return ""

    def trouble_of_reference(self, server: Server, reference: str) -> str:
        """The same for what a session's configuration names."""
        try:
            self._filled_in(server, reference)
        except UnusableError as error:
            return error.why[:1].upper() + error.why[1:]
        return ""

    def variables(self, server: Server) -> list[str]:
        """Those that may be sent to ``server``, sorted."""
        host = host_of(server.url)
        pairs = (entry.partition("@") for entry in self._listed)
        return sorted({name for name, at, place in pairs if not at or place.lower() == host})

    def _filled_in(self, server: Server, reference: str) -> str:
        found = _REFERENCE.fullmatch(reference)
        if found is None:
            raise UnusableError("names no variable that Vitrine can read.")
        variable = found["name"]
        if variable not in self.variables(server):
            raise UnusableError(
                f"comes from the variable {variable}, which Vitrine may not send to this server. "
                f"If it may, add {variable} to VITRINE_CREDENTIAL_VARIABLES and start Vitrine "
                "again."
            )
        value = self._environment.get(variable, "").strip()
        if not value:
            raise UnusableError(
                f"comes from the variable {variable}, which is not set where Vitrine runs. "
                "Set it and start Vitrine again."
            )
        if not is_value(value):
            raise UnusableError(
                f"comes from the variable {variable}, whose value cannot stand in a header."
            )
        return f"{found['scheme'] or ''}{value}"
