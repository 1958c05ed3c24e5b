"""From an address in a request to the call, the server and the tool that it may concern.

No request parameter names a server, a tool or a resource: the call is read from the transcript,
the server follows from what the call recorded, the tool from that server's own index, the
document from the call's own record and that tool.
"""

from dataclasses import dataclass
from types import MappingProxyType

from starlette.concurrency import run_in_threadpool

from app.db import tables
from app.db.engine import Database
from app.errors import VitrineError
from app.mcp import copies, registry
from app.mcp.errors import McpError, ServerForbidden, ServerGarbage, ServerRejected, ServerTooLarge
from app.mcp.hub import Hub
from app.mcp.registry import Match
from app.mcp.target import Target
from app.mcp.tool_index import Tool, ToolIndex
from app.mcp_apps import policy, session_servers
from app.mcp_apps.matching import matches, recorded_view
from app.transcripts.recorded_call import RecordedCall, recorded_call

_ANSWERED = (ServerGarbage, ServerRejected, ServerTooLarge)


class PanelRefusedError(VitrineError):
    """The call is there, but no view may be shown or act for it; ``reason`` is one word."""

    def __init__(self, status: int, reason: str, sentence: str) -> None:
        super().__init__(status, sentence)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class PanelCall:
    """A recorded call with the live side it belongs to."""

    call: RecordedCall
    server_name: str
    server: tables.Server
    target: Target
    index: ToolIndex
    tool: Tool
    # Set when the server could not be asked: ``index`` is then the durable copy, or, where there
    # is none, holds ``tool`` alone, as far as the call recorded it.
    trouble: McpError | None = None

    @property
    def principal(self) -> str:
        """Who a view's calls act as: never the agent, never the person."""
        return f"view:{self.server_name}/{self.tool.name}"

    @property
    def document_addresses(self) -> tuple[str, ...]:
        """Where the call's document may be, best first: the ``ui://`` address recorded with the
        call, which its result was made for, then the one that its tool names now.
        """
        addresses = (recorded_view(self.call.called), self.tool.resource_uri)
        return tuple(dict.fromkeys(uri for uri in addresses if uri is not None))

    @property
    def may_ask_for_document(self) -> bool:
        """Whether asking the server makes sense: where its tools could not be had, only if it
        answered, and there is no copy of what it said before.
        """
        if self.trouble is None:
            return True
        return not self.tool.raw and isinstance(self.trouble, _ANSWERED)


async def panel_call(
    database: Database,
    hub: Hub,
    session_id: str,
    tool_call_id: str,
    at: str | None,
    *,
    for_showing: bool = False,
    retry: bool = False,
) -> PanelCall:
    """Resolve, contacting the call's own server for its tool index when that is not fresh.

    ``for_showing``: where the server cannot be asked, what it said last will do, or what the call
    recorded itself. A request of a view is never authorized by that. ``retry``: forget that the
    server failed a moment ago.

    Raises ``NotFoundError`` when the transcript does not hold that call there,
    ``PanelRefusedError`` when policy or the server's listing says no, and
    ``app.mcp.errors.McpError`` when the server cannot be asked.
    """
    call, found = await run_in_threadpool(_recorded, database, session_id, tool_call_id, at)
    for match in found:
        target = hub.wallet.target(match.server, match.claims)
        if retry:
            hub.retry(target)
        trouble = None
        try:
            index = await hub.tools(target)
        except McpError as error:
            trouble = _advised(error, target)
            known = None
            if for_showing:
                known = await run_in_threadpool(_known, database, match, target, call)
            if known is None:
                raise trouble from error
            index = known
        tool = match.find(index)
        if tool is not None:
            return PanelCall(call, match.name, match.server, target, index, tool, trouble)
    raise PanelRefusedError(
        404, "tool-gone", f"{found[0].name} no longer lists the tool of this call."
    )


def _advised(error: McpError, target: Target) -> McpError:
    """``error``, which a credential that could not be sent may explain."""
    if isinstance(error, ServerForbidden) and target.notes:
        return ServerForbidden(error.status, " ".join(target.notes))
    return error


def _known(
    database: Database, match: Match, target: Target, call: RecordedCall
) -> ToolIndex | None:
    """What is known of the call's tool without asking its server."""
    with database.session() as db:
        copy = copies.load_tools(db, target.key)
    if copy is not None and match.find(copy.index) is not None:
        return copy.index
    name, uri = call.called.tool, recorded_view(call.called)
    if name is None or uri is None:
        return copy.index if copy is not None else None
    return ToolIndex(MappingProxyType({name: Tool(name, {}, uri)}))


def _recorded(
    database: Database, session_id: str, tool_call_id: str, at: str | None
) -> tuple[RecordedCall, list[Match]]:
    """The call, and the servers it may belong to: every one of them allowed by policy."""
    with database.session() as db:
        call = recorded_call(db, session_id, tool_call_id, at)
        switches = policy.load(db)
        found = matches(call.agent, call.called, session_servers.known_in(db, call.session_id))
    if not switches.render:
        raise PanelRefusedError(409, "off", "Views are switched off.")
    if not found:
        raise PanelRefusedError(409, "unknown-server", "The server of this call is not known here.")
    for match in found:
        if match.ambiguous:
            raise PanelRefusedError(
                409,
                "ambiguous",
                f"Two servers are recorded under the same name as {match.name}.",
            )
        if match.server.transport == registry.STDIO:
            raise PanelRefusedError(409, "not-eligible", registry.NOT_ELIGIBLE)
        if not switches.allows(match.server):
            raise PanelRefusedError(409, "not-allowed", f"Views of {match.name} are not allowed.")
    return call, found
