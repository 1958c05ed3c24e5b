"""What a view may do for somebody who only looks: a viewer, who is no operator.

A view acts with the operator's credentials and steers the operator's agent, whoever has it open.
"""

from app.mcp_apps.jsonrpc import REFUSED, RpcError
from app.mcp_apps.resolve import PanelCall

_DENIED = {"reason": "denied"}


def check_request(panel: PanelCall, method: object) -> None:
    """Reading is looking, and so is a listing; a call is not. Raises ``RpcError``."""
    if method == "tools/call" and not panel.server.viewers_may_call:
        raise RpcError(REFUSED, "Viewers may not call the tools of this server.", _DENIED)


def check_message() -> None:
    """Raises ``RpcError``: what goes to the agent comes from whoever runs it."""
    raise RpcError(REFUSED, "Viewers send nothing to the agent.", _DENIED)


def note(panel: PanelCall) -> str:
    """A line for the panel, so that a refusal does not look like a fault of the view."""
    if panel.server.viewers_may_call:
        return "You are a viewer here: this view cannot write to the agent."
    return (
        "You are a viewer here: this view cannot call its server’s tools or write to the agent. "
        "An operator can allow calls for this server."
    )
