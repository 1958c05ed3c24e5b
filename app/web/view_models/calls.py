"""A tool call in the transcript: one line, its arguments and result, and the place of its view."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from app.db.tables import CallState
from app.mcp.names import PREFIX, normalise, normalise_codex
from app.mcp_apps.seen_servers import guess
from app.mcp_apps.trigger import RowTrigger, TriggerKind
from app.text import one_line
from app.transcripts.timeline import CalledTool, CallRow
from app.web.ansi import strip_escapes
from app.web.view_models.sessions import counted

_SUMMARY_LENGTH: Final = 140
# The arguments that say what a call does, most telling first.
_TELLING: Final = (
    "command",
    "cmd",
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "query",
    "url",
    "description",
    "prompt",
    "skill",
    "subject",
    "q",
)
_STATES: Final = {
    CallState.DONE: "",
    CallState.PENDING: "no result yet",
    CallState.FAILED: "failed",
    CallState.INTERRUPTED: "interrupted",
}
_NEVER: Final = "no result"
_OUTCOMES: Final = {
    CallState.DONE: "",
    CallState.PENDING: "The transcript holds no result yet.",
    CallState.FAILED: "",
    CallState.INTERRUPTED: "The call was interrupted before it was done.",
}
_NEVER_OUTCOME: Final = "The transcript goes on without a result of this call."
# Where to change what keeps a view away: route, what the link says. A call whose views are
# switched off altogether is not here: that is said once, above the transcript.
_ACTIONS: Final = {
    TriggerKind.UNKNOWN_SERVER: ("servers", "Add the server"),
    TriggerKind.NOT_ALLOWED: ("mcp_apps_settings", "Change under MCP Apps"),
    TriggerKind.AMBIGUOUS: ("servers", "See the servers"),
    TriggerKind.NOT_ELIGIBLE: ("servers", "See the servers"),
}


@dataclass(frozen=True, slots=True)
class Argument:
    """``block``: long or of several lines, so it gets a box of its own."""

    name: str
    text: str
    block: bool

    @classmethod
    def of(cls, name: str, value: Any) -> Self:
        text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
        return cls(one_line(name, 80), strip_escapes(text), "\n" in text or len(text) > 100)


@dataclass(frozen=True, slots=True)
class Notice:
    """Why no view is shown, and the settings page that can change it. ``name`` fills in that
    page's form, or is empty.
    """

    sentence: str
    route: str
    label: str
    name: str

    @property
    def query(self) -> Mapping[str, str]:
        return {"name": self.name}


@dataclass(frozen=True, slots=True)
class SubAgentView:
    """A sub-agent under the call that started it; ``open`` where there are views in it."""

    number: int
    size: str
    open: bool


@dataclass(frozen=True, slots=True)
class CallView:
    """``server`` is empty for a tool of the agent's own. ``arguments`` is None where the record
    is too long to be taken apart: then ``arguments_json`` is shown as it is.
    """

    server: str
    tool: str
    recorded_name: str
    summary: str
    state: CallState
    state_label: str
    outcome: str
    arguments: list[Argument] | None
    arguments_json: str
    result: str | None
    note: str
    subagent: SubAgentView | None
    panel_call_id: str | None
    notice: Notice | None

    @classmethod
    def of(cls, call: CallRow, trigger: RowTrigger, *, is_past: bool = False) -> Self:
        """``is_past``: the conversation went on after the call, so no result will come."""
        never = is_past and call.state == CallState.PENDING
        arguments = _object(call.arguments_json)
        server, tool = _name_parts(call.called, trigger)
        wants_panel = trigger.kind == TriggerKind.FRAME and bool(call.tool_call_id)
        return cls(
            server=one_line(server, 80),
            tool=one_line(tool, 120),
            recorded_name=one_line(call.name, 200),
            summary=_summary(arguments or {}),
            state=call.state,
            state_label=_NEVER if never else _STATES[call.state],
            outcome=_NEVER_OUTCOME if never else _OUTCOMES[call.state],
            arguments=None
            if arguments is None
            else [Argument.of(name, value) for name, value in arguments.items()],
            arguments_json=call.arguments_json,
            result=None if call.result_text is None else strip_escapes(call.result_text),
            note=call.note,
            subagent=_sub_agent(call),
            panel_call_id=call.tool_call_id if wants_panel else None,
            notice=_notice(call.called, trigger),
        )


def _sub_agent(call: CallRow) -> SubAgentView | None:
    if call.sub_agent is None:
        return None
    size = counted(call.sub_agent.entry_count, "entry", "entries")
    return SubAgentView(call.sub_agent.number, size, call.sub_agent_has_views)


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # cut, because it was long
        return None
    return value if isinstance(value, dict) else None


def _name_parts(called: CalledTool, trigger: RowTrigger) -> tuple[str, str]:
    """(server, tool) to show: as the agent recorded them. Where it did not, only a known server's
    name tells where the tool's begins; for an unknown one the first ``__`` is a guess, good
    enough to look at.
    """
    if called.server and called.tool:
        return called.server, called.tool
    if not called.name.startswith(PREFIX):
        return "", called.name
    for write in (normalise, normalise_codex):
        prefix = f"{PREFIX}{write(trigger.server)}__"
        if trigger.server and called.name.startswith(prefix):
            return trigger.server, called.name.removeprefix(prefix)
    server = guess(called.name)
    tool = called.name.removeprefix(f"{PREFIX}{server}__")
    return (server, tool) if server and tool != called.name else ("", called.name)


def _summary(arguments: dict[str, Any]) -> str:
    telling = [text for key in _TELLING if (text := _words(arguments.get(key)))]
    if telling:
        text = telling[0]
    else:
        simple = (str, int, float)
        text = ", ".join(
            f"{key}: {value}" for key, value in arguments.items() if isinstance(value, simple)
        )
    # A line of a terminal can be long; only its beginning is ever shown.
    return one_line(" ".join(strip_escapes(text[:2000]).split()), _SUMMARY_LENGTH)


def _words(value: Any) -> str:
    """A text, or the words of a command."""
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return " ".join(value)
    return value if isinstance(value, str) else ""


def _notice(called: CalledTool, trigger: RowTrigger) -> Notice | None:
    if not trigger.sentence or trigger.kind not in _ACTIONS:
        return None
    route, label = _ACTIONS[trigger.kind]
    name = ""
    if trigger.kind == TriggerKind.UNKNOWN_SERVER:
        name = (called.server or guess(called.name))[:100]
    return Notice(trigger.sentence, route, label, name)
