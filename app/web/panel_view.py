"""What the panel's template shows, and what it hands to the broker."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from app import __version__
from app.mcp.errors import McpError
from app.mcp_apps.csp import FragmentPolicy, Refused
from app.mcp_apps.grants import Calls
from app.mcp_apps.permissions import Permissions
from app.mcp_apps.resolve import PanelCall
from app.text import one_line


@dataclass(frozen=True, slots=True)
class PanelView:
    """A panel that holds a view. ``data`` is read by the broker; nothing in it is ``None``:
    official views refuse a ``null``.
    """

    panel_id: str
    server: str
    tool: str
    notes: Sequence[str]
    contacts: Sequence[str]
    narrowed: Sequence[str]
    refused: Sequence[Refused]
    calls: str
    server_url: str
    result_json: str
    bordered: bool
    nonce: str
    fragment_url: str
    rpc_url: str
    cancel_url: str
    result_url: str
    message_url: str
    seen_url: str
    data: dict[str, Any]


NOT_THE_RECORDED_VIEW = (
    "The server no longer has the view that was recorded with this call. This is the one that its "
    "tool names now."
)

CALLS: Final[Mapping[str, str]] = {
    Calls.ALLOWED: "It may call its server’s tools; those marked destructive ask you first.",
    Calls.ASK: "It may call its server’s tools; those not marked read-only ask you first.",
    Calls.NONE: "It may call none of its server’s tools.",
}


def broker_data(
    panel: PanelCall, policy: FragmentPolicy, permissions: Permissions
) -> dict[str, Any]:
    """What the broker feeds the view with: all of it from the transcript and the tool index."""
    call = panel.call
    data: dict[str, Any] = {
        "server": one_line(panel.server_name),
        "tool": one_line(panel.tool.name),
        "state": call.state,
        "toolInput": call.arguments,
        "hostInfo": {"name": "Vitrine", "version": __version__},
        "granted": policy.granted,
        "permissions": list(permissions.granted),
        # What the event ``listed`` calls the server by.
        "serverKey": str(panel.server.id),
        "frameTitle": one_line(f"View of {panel.server_name}/{panel.tool.name}"),
    }
    if panel.tool.raw:
        data["toolInfo"] = {"id": call.tool_call_id, "tool": dict(panel.tool.raw)}
    if call.result is not None:
        data["toolResult"] = call.result
    return data


def domain_line(declared: Mapping[str, Any]) -> str:
    """What it means that a resource asks for an origin of its own (``_meta.ui.domain``)."""
    domain = declared.get("domain")
    if not isinstance(domain, str) or not domain:
        return ""
    return (
        f"This view asks for the origin {one_line(domain, 100)!r}. Views have none here: servers "
        "that expect requests from that origin will refuse them."
    )


def contacts(policy: FragmentPolicy) -> list[str]:
    """Every origin that the document may reach, once."""
    return list(dict.fromkeys(origin for origins in policy.granted.values() for origin in origins))


def trouble_line(trouble: McpError, read_at: datetime) -> str:
    """Why a copy is shown, and what that means."""
    when = read_at.strftime("%d %b %Y, %H:%M UTC")
    return (
        f"{trouble.sentence} This is the view as it was read on {when}; what it asks its server "
        "will fail."
    )


def untold_line(trouble: McpError | None) -> str:
    """What it means that a view is there and its server's list of tools is not."""
    if trouble is None:
        return ""
    return f"{trouble.sentence} The view is the recorded one; what it asks its server will fail."
