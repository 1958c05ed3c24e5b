"""Which rows of a transcript get a panel. Database and caches only: never the network.

The transcript is the trigger: a panel appears because the agent called a tool, and nothing here
can call one.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from sqlmodel import Session

from app.db import tables
from app.mcp import copies, registry
from app.mcp.copies import IndexCopy
from app.mcp.hub import Hub
from app.mcp.names import PREFIX
from app.mcp.registry import Match
from app.mcp.target import Key
from app.mcp.tool_index import Tool
from app.mcp_apps import policy, session_servers
from app.mcp_apps.matching import matches, recorded_view
from app.mcp_apps.policy import Policy
from app.transcripts import timeline
from app.transcripts.calls import CalledTool
from app.transcripts.timeline import SessionRow


class TriggerKind(StrEnum):
    NONE = "none"  # not an MCP call, or a tool without a view
    FRAME = "frame"  # a lazy frame: the tool has a view, or its index is not read yet
    OFF = "off"  # the master switch
    UNKNOWN_SERVER = "unknown-server"
    NOT_ALLOWED = "not-allowed"
    AMBIGUOUS = "ambiguous"
    NOT_ELIGIBLE = "not-eligible"  # a stdio server


@dataclass(frozen=True, slots=True)
class RowTrigger:
    """``sentence`` is for the row, empty where there is nothing to say. ``server`` is the name
    that matched, or "".
    """

    kind: TriggerKind
    server: str = ""
    sentence: str = ""


_NO_VIEW_BELIEVED = timedelta(days=1)
_NONE = RowTrigger(TriggerKind.NONE)


class Triggers:
    """The triggers of one session's calls."""

    def __init__(self, decide: Callable[[CalledTool], RowTrigger], called: Iterable[CalledTool]):
        self._decide = decide
        self._rows = {tool: decide(tool) for tool in called}

    @property
    def view_names(self) -> set[str]:
        """Recorded names whose calls have, or may have, a view: shown at every level."""
        return {tool.name for tool, row in self._rows.items() if row.kind == TriggerKind.FRAME}

    @property
    def are_off(self) -> bool:
        """Whether there are calls that could have a view if views were not switched off."""
        return any(row.kind == TriggerKind.OFF for row in self._rows.values())

    def row(self, called: CalledTool) -> RowTrigger:
        """The trigger of one call: what it recorded itself counts, not what another call of the
        same name did.
        """
        if not called.name.startswith(PREFIX):
            return _NONE
        if called not in self._rows:
            self._rows[called] = self._decide(called)
        return self._rows[called]


def for_session(db: Session, hub: Hub, session: SessionRow) -> Triggers:
    """Decide for every MCP tool that the session holds."""
    switches = policy.load(db)
    known = session_servers.known_in(db, session.id)
    indexes = _Indexes(db, hub)

    def decide(called: CalledTool) -> RowTrigger:
        return _decide(called, matches(session.agent, called, known), switches, indexes)

    triggers = Triggers(decide, timeline.called_tools(db, session.id))
    indexes.detach()
    return triggers


class _Indexes:
    """What is known of each server's tools without asking it."""

    def __init__(self, db: Session, hub: Hub) -> None:
        self._db: Session | None = db
        self._hub = hub
        self._copies: dict[Key, IndexCopy | None] = {}

    def detach(self) -> None:
        """From now on, what has not been loaded is not known: the session's rows are made after
        the database's transaction.
        """
        self._db = None

    def tool(self, match: Match) -> tuple[Tool | None, bool]:
        """The tool that a recorded name means, and whether what is known is worth believing.

        A copy that knows a view is believed however old: its panel finds out. One that knows
        none is believed for a day; after that the row gets a frame again, which asks the server.
        """
        target = self._hub.wallet.target(match.server, match.claims)
        fresh = self._hub.peek_tools(target)
        if fresh is not None:
            return match.find(fresh), True
        if target.key not in self._copies and self._db is not None:
            self._copies[target.key] = copies.load_tools(self._db, target.key)
        copy = self._copies.get(target.key)
        if copy is None:
            return None, False
        tool = match.find(copy.index)
        has_view = tool is not None and tool.resource_uri is not None
        return tool, has_view or tables.now() - copy.read_at < _NO_VIEW_BELIEVED


def _decide(
    called: CalledTool, found: Sequence[Match], switches: Policy, indexes: _Indexes
) -> RowTrigger:
    if not switches.render:
        return RowTrigger(TriggerKind.OFF)
    if not found:
        return RowTrigger(
            TriggerKind.UNKNOWN_SERVER, "", "The server of this call is not known here."
        )
    for match in found:
        if match.ambiguous:
            return RowTrigger(
                TriggerKind.AMBIGUOUS,
                match.name,
                f"Two servers are recorded under the same name as {match.name}.",
            )
        if match.server.transport == registry.STDIO:
            return RowTrigger(TriggerKind.NOT_ELIGIBLE, match.name, registry.NOT_ELIGIBLE)
        if not switches.allows(match.server):
            return RowTrigger(
                TriggerKind.NOT_ALLOWED, match.name, f"Views of {match.name} are not allowed."
            )
        if recorded_view(called) is not None:
            # The call had a view, whatever its server lists today: the panel finds out.
            return RowTrigger(TriggerKind.FRAME, match.name)
        tool, is_known = indexes.tool(match)
        if not is_known:
            return RowTrigger(TriggerKind.FRAME, match.name)
        if tool is not None:
            has_view = tool.resource_uri is not None
            return RowTrigger(TriggerKind.FRAME, match.name) if has_view else _NONE
    return _NONE
