"""The settings pages but servers: the two switches, and the account."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from app.db.tables import Role
from app.mcp.registry import ServerEntry
from app.mcp_apps.policy import Policy
from app.web.auth.passwords import RULE
from app.web.view_models.servers import ServerView

# What a page says after a change; the address holds only the key.
NOTICES: Final[Mapping[str, str]] = {
    "saved": "Saved. Sessions show it from the next time they are opened.",
    "may-saved": "Saved. Calls follow it at once; a view that is open keeps its addresses until it "
    "is reloaded.",
    "revoked": "Revoked. The view asks again from its next call on.",
    "added": "Added. Its views stay off until you allow them under MCP Apps.",
    "added-stdio": "Added. Its calls say why they have no view.",
    "moved": "Saved. The address is another one now: its views stay off until you allow them "
    "under MCP Apps, and its credentials are gone.",
    "removed": "Removed.",
    "credential": "Saved. It goes along with every request to this server from now on.",
    "credential-removed": "Removed. It is not sent any more.",
    "deleted": "Deleted. Files that an agent keeps of it stay where they are.",
    "password": "The password is set. Every other browser was signed out.",
    "signed-out": "Every other browser was signed out.",
    "role": "The role is changed, from the next request on.",
    "person-signed-out": "Signed out everywhere, and unused sign-in links are void.",
    "person-removed": "Removed, with their sign-ins, links and tokens.",
    "token-revoked": "Revoked. Whatever uses that token is refused from now on.",
}


@dataclass(frozen=True, slots=True)
class SwitchesPage:
    """``allowed`` and ``asked`` are keys of servers: those whose switch is on in the form, and
    those whose address is a private one, which has to be confirmed before anything is saved.
    """

    render: bool
    servers: list[ServerView]
    allowed: Collection[str]
    notice: str = ""
    asked: Collection[str] = ()

    @classmethod
    def of(cls, policy: Policy, entries: Sequence[ServerEntry], notice: str) -> Self:
        servers = [ServerView.of(entry) for entry in entries]
        allowed = {server.key for server in servers if server.allowed}
        return cls(policy.render, servers, allowed, NOTICES.get(notice, ""))

    @classmethod
    def asking(
        cls,
        render: bool,
        entries: Sequence[ServerEntry],
        allowed: Collection[str],
        asked: Collection[str],
    ) -> Self:
        return cls(render, [ServerView.of(entry) for entry in entries], allowed, "", asked)


@dataclass(frozen=True, slots=True)
class AccountPage:
    """``others``: how many other browsers are signed in. ``error`` belongs beside ``field``."""

    name: str
    role: Role
    password_exists: bool
    by_proxy: bool
    others: int
    notice: str = ""
    error: str = ""
    field: str = ""

    @property
    def rule(self) -> str:
        return RULE
