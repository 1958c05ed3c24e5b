"""The settings pages but servers: the two switches, and the account."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

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
    "under MCP Apps.",
    "removed": "Removed.",
    "deleted": "Deleted. Files that an agent keeps of it stay where they are.",
    "password": "The password is set. Every other browser was signed out.",
    "signed-out": "Every other browser was signed out.",
}


@dataclass(frozen=True, slots=True)
class SwitchesPage:
    render: bool
    servers: list[ServerView]
    notice: str

    @classmethod
    def of(cls, policy: Policy, entries: Sequence[ServerEntry], notice: str) -> Self:
        servers = [ServerView.of(entry) for entry in entries]
        return cls(policy.render, servers, NOTICES.get(notice, ""))


@dataclass(frozen=True, slots=True)
class AccountPage:
    """``others``: how many other browsers are signed in. ``error`` belongs beside ``field``."""

    password_exists: bool
    others: int
    notice: str = ""
    error: str = ""
    field: str = ""

    @property
    def rule(self) -> str:
        return RULE
