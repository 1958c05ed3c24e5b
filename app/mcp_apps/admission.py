"""Whether a view's tool call goes out: freely, after a person's yes, or not.

Decided here and now, from the database: a page that shows what was true a minute ago decides
nothing, and neither does a broker.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.db import tables
from app.db.engine import Database
from app.mcp.tool_index import Tool
from app.mcp_apps import approvals, grants
from app.mcp_apps.grants import Verdict
from app.mcp_apps.jsonrpc import REFUSED, RpcError
from app.mcp_apps.resolve import PanelCall

_DENIED = {"reason": "denied"}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who looks at the view. ``approval`` is what came with the request: ``None``, or
    ``{"handle", "answer"}`` with the answer ``once``, ``session`` or ``no``.
    """

    login_id: str
    user_id: str
    approval: object = None


class AskPerson(RpcError):  # noqa: N818
    """The call waits for a person. ``ask`` is for the page alone: it stands beside the error, so
    that a view, which is handed the error, gets no handle, and a server's own error is no question.
    """

    def __init__(self, handle: str, verdict: Verdict) -> None:
        super().__init__(REFUSED, "A person is to be asked first.", {"reason": "ask"})
        self.ask = {"handle": handle, "lasting": verdict == Verdict.ASK}

    def as_answer(self) -> dict[str, Any]:
        return super().as_answer() | {"ask": self.ask}


def admit(
    database: Database,
    panel: PanelCall,
    caller: Caller,
    tool: Tool,
    arguments: Mapping[str, Any],
) -> None:
    """Returns when the call may go out now. Raises ``AskPerson``, and ``RpcError`` -32000 with the
    reason ``denied``.
    """
    if caller.approval is not None:
        _check_approval(database, panel, caller, tool, arguments)
        return
    with database.session() as db:
        verdict = _verdict(db.get(tables.Server, panel.server.id), panel, tool)
        remembered = verdict == Verdict.ASK and grants.is_remembered(
            db, panel, caller.user_id, tool.name
        )
    if verdict == Verdict.FREE or remembered:
        return
    with database.session() as db:
        asked = _asked(panel, tool, arguments, verdict)
        handle = approvals.issue(db, caller.login_id, asked)
    raise AskPerson(handle, verdict)


def _check_approval(
    database: Database,
    panel: PanelCall,
    caller: Caller,
    tool: Tool,
    arguments: Mapping[str, Any],
) -> None:
    """A call that comes with an approval stands and falls with it, even where it would need none:
    the second of two clicks must not go out because the first was remembered.
    """
    handle, answer = _parts(caller.approval)
    with database.session() as db:
        # The hints as they are now: a tool that became destructive after the question was shown
        # was not the one that a person said yes to.
        verdict = grants.judge(grants.Calls.ASK, tool.raw)
        asked = _asked(panel, tool, arguments, verdict)
        good = approvals.use(db, caller.login_id, handle, asked)
    if answer == "no":
        raise RpcError(REFUSED, "Denied", _DENIED)
    if not good or answer not in ("once", "session"):
        raise RpcError(REFUSED, "This approval does not hold for this call.", _DENIED)
    with database.session() as db:
        if answer == "session":
            if verdict != Verdict.ASK:
                raise RpcError(REFUSED, "This tool is asked for each time.", _DENIED)
            grants.remember(db, panel, caller.user_id, tool.name)
        _verdict(db.get(tables.Server, panel.server.id), panel, tool)


def _verdict(server: tables.Server | None, panel: PanelCall, tool: Tool) -> Verdict:
    """By the server's row as it is now, not as it was when the panel was resolved."""
    if server is None or server.url != panel.server.url or not server.allowed:
        raise RpcError(REFUSED, "The server of this view has changed.", {"reason": "gone"})
    verdict = grants.judge(server.calls, tool.raw)
    if verdict == Verdict.NO:
        raise RpcError(REFUSED, "Views of this server may call no tools.", _DENIED)
    return verdict


def _parts(approval: object) -> tuple[str, str]:
    if not isinstance(approval, Mapping):
        return "", ""
    handle, answer = approval.get("handle"), approval.get("answer")
    return (
        handle if isinstance(handle, str) else "",
        answer if isinstance(answer, str) else "",
    )


def _asked(panel: PanelCall, tool: Tool, arguments: Mapping[str, Any], verdict: Verdict) -> str:
    call = panel.call
    return approvals.digest(
        [
            [call.session_id, call.tool_call_id, call.address],
            [panel.server.id, panel.server.url, panel.principal],
            [tool.name, dict(arguments), verdict == Verdict.ASK],
        ]
    )
