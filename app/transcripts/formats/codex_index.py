"""What a rollout line holds: its entries, and what it says of its session.

A rollout has most things twice: as ``response_item``, what goes to the model's API, and as
``event_msg``, what people are shown. Every version measured (0.53 to 0.171) records the events of
messages and thinking, so the entries are made of these, and of ``response_item`` only calls and
what the model was given of their results. That leaves out, by itself, what no person wrote: the
instructions, the environment, the note that a turn was interrupted.
"""

import re
from collections.abc import Callable

import msgspec

from app.db.tables import CallState
from app.transcripts.formats.base import Indexed, Item, Kind, UnreadableLineError
from app.transcripts.formats.codex_line import Item as TurnItem
from app.transcripts.formats.codex_line import Line, Payload, decode
from app.transcripts.formats.codex_names import joined, of_mcp
from app.transcripts.formats.lenient import loads, utc

CALL_TYPES = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
OUTPUT_TYPES = frozenset({"function_call_output", "custom_tool_call_output"})
WEB_SEARCH = "web_search"
USER_SHELL = "user_shell"

_HEAD_BYTES = 600  # longer than every beginning below
_ABORTED = re.compile(r"(?:Wall time: [\d.]+ seconds\n)?aborted by user")
_REFUSED = re.compile(r"unsupported (?:custom tool )?call: ")
# Up to 0.125 the only trace of a JSON-RPC error: the agent's own sentence, as text or as content.
_CALL_ERROR = re.compile(
    r"(?:Wall time: [\d.]+ seconds\nOutput:\n)?(?:\[\{[^{}]{0,40}?text\\?\":\\?\")?"
    r"tool call error: tool call failed for `"
)
_EXIT_CODE = re.compile(
    r"(?:Command: [^\n]*\n)?(?:Chunk ID: [^\n]*\n)?(?:Wall time: [^\n]*\n)?"
    r"(?:Process exited with code|Exit code:) (-?\d+)"
)
# 0.53 to 0.130: the JSON of an object. What went before the code was the command's own output.
_EXIT_CODE_IN_JSON = re.compile(r'"metadata\\":\{\\"exit_code\\":(-?\d+),[^{}]*\}\}"\s*$')
_JSON_TAIL_BYTES = 200
_FAILED = frozenset({"failed", "declined"})
_EMPTY = frozenset({b"", b"null", b'""', b"[]", b'[""]'})
_IMAGES = ("image", "local_image", "input_image")
_PROMPT_LENGTH = 2_000


def refused(output: str) -> bool:
    """Whether an output says that there was no such tool, so that nothing was called."""
    return _REFUSED.match(output) is not None


def call_error(output: str) -> bool:
    """Whether an output says that the server answered with a JSON-RPC error, or not at all."""
    return _CALL_ERROR.match(output) is not None


def aborted(output: str) -> bool:
    return _ABORTED.match(output) is not None


def _json_string_head(raw: msgspec.Raw) -> str:
    """The beginning of a JSON string; "" for another value."""
    data = bytes(memoryview(raw)[: _HEAD_BYTES + 1])
    if not data.startswith(b'"'):
        return ""
    return data[1:].decode("utf-8", "replace").replace("\\n", "\n")


def _output_state(raw: msgspec.Raw) -> tuple[CallState, bool]:
    """The state that an output puts its call in, and whether the agent made the output up."""
    head = _json_string_head(raw)
    if aborted(head):
        return CallState.INTERRUPTED, True
    if refused(head) or call_error(head):
        return CallState.FAILED, False
    code = _EXIT_CODE.match(head)
    if code is None and head.startswith('{\\"output\\":'):
        tail = bytes(memoryview(raw)[-_JSON_TAIL_BYTES:]).decode("utf-8", "replace")
        code = _EXIT_CODE_IN_JSON.search(tail)
    failed = code is not None and int(code[1]) != 0
    return (CallState.FAILED if failed else CallState.DONE), False


def _response_item(payload: Payload) -> Item | None:
    if payload.type in CALL_TYPES:
        name = joined(payload.namespace, payload.name or payload.type.removesuffix("_call"))
        return Item(Kind.TOOL_CALL, tool_call_id=payload.call_id or payload.id, tool_name=name)
    if payload.type in OUTPUT_TYPES:
        state, made_up = _output_state(payload.output)
        return Item(Kind.TOOL_OUTPUT, tool_call_id=payload.call_id, state=state, synthetic=made_up)
    return None


class _LegacyOk(msgspec.Struct):
    isError: bool | None = None  # noqa: N815 -- the agent's own key


class _LegacyResult(msgspec.Struct):
    Ok: _LegacyOk | None = None


def _legacy_failed(result: msgspec.Raw) -> bool:
    """Of ``{"Ok": {…, "isError"}}`` or ``{"Err": text}``."""
    try:
        found = msgspec.json.decode(bytes(result), type=_LegacyResult)
    except (ValueError, RecursionError):
        return True
    return found.Ok is None or found.Ok.isError is True


def _mcp_end(payload: Payload) -> Item:
    """``event_msg/mcp_tool_call_end`` (0.130 to 0.147)."""
    called = payload.invocation
    server, tool = (called.server, called.tool) if called else (None, None)
    return Item(
        Kind.TOOL_RESULT,
        tool_call_id=payload.call_id,
        tool_name=of_mcp(server, tool),
        state=CallState.FAILED if _legacy_failed(payload.result) else CallState.DONE,
        complete=True,
        server=server,
        tool=tool,
        resource_uri=payload.mcp_app_resource_uri,
    )


def _mcp_item(item: TurnItem) -> Item:
    return Item(
        Kind.TOOL_RESULT,
        tool_call_id=item.id,
        tool_name=of_mcp(item.server, item.tool),
        state=CallState.FAILED if item.status in _FAILED else CallState.DONE,
        complete=True,
        server=item.server,
        tool=item.tool,
        resource_uri=item.mcp_app_resource_uri,
    )


def _result(item: TurnItem, *, stands_for: str | None = None, agent_id: str | None = None) -> Item:
    return Item(
        Kind.TOOL_RESULT,
        tool_call_id=item.id,
        tool_name=stands_for,
        state=CallState.FAILED if item.status in _FAILED else CallState.DONE,
        complete=True,
        agent_id=agent_id,
    )


def _command(item: TurnItem) -> Item:
    # A command that a person ran has no call: the model had no part in it.
    return _result(item, stands_for=USER_SHELL if item.source == USER_SHELL else None)


def _collaboration(item: TurnItem) -> Item | None:
    # The others say less than what the model was given.
    if item.tool != "spawn_agent":
        return None
    try:
        threads = loads(bytes(item.receiver_thread_ids) or b"[]")
    except UnreadableLineError:
        threads = []
    first = threads[0] if isinstance(threads, list) and threads else None
    return _result(item, agent_id=first if isinstance(first, str) else None)


def _filled(*values: msgspec.Raw) -> bool:
    """Whether one of them holds something."""
    return any(memoryview(value).nbytes > 4 or bytes(value) not in _EMPTY for value in values)


def _said(kind: Kind) -> Callable[[TurnItem], Item | None]:
    def made(item: TurnItem) -> Item | None:
        return Item(kind) if _filled(item.content, item.text) else None

    return made


def _thought(item: TurnItem) -> Item | None:
    return Item(Kind.THINKING) if _filled(item.summary_text, item.raw_content) else None


def _noted(_item: TurnItem) -> Item:
    return Item(Kind.SYSTEM)


_ITEMS: dict[str, Callable[[TurnItem], Item | None]] = {
    "UserMessage": _said(Kind.USER),
    "AgentMessage": _said(Kind.ASSISTANT),
    "Plan": _said(Kind.ASSISTANT),
    "Reasoning": _thought,
    "McpToolCall": _mcp_item,
    "CommandExecution": _command,
    "FileChange": _result,
    "CollabAgentToolCall": _collaboration,
    "WebSearch": lambda item: _result(item, stands_for=WEB_SEARCH),
    "HookPrompt": _noted,
    "EnteredReviewMode": _noted,
    "ExitedReviewMode": _noted,
}
_EVENTS = {
    "user_message": Kind.USER,
    "agent_message": Kind.ASSISTANT,
    "agent_reasoning": Kind.THINKING,
    "agent_reasoning_raw_content": Kind.THINKING,
    "turn_aborted": Kind.ERROR,
    "error": Kind.ERROR,
    "thread_rolled_back": Kind.SYSTEM,
    "entered_review_mode": Kind.SYSTEM,
    "exited_review_mode": Kind.SYSTEM,
}
_ENDS = frozenset({"task_complete", "turn_complete"})


def _event(payload: Payload) -> Item | None:
    if payload.type == "item_completed":
        make = _ITEMS.get(payload.item.type or "") if payload.item else None
        return make(payload.item) if make and payload.item else None
    if payload.type == "mcp_tool_call_end":
        return _mcp_end(payload)
    if payload.type in _ENDS:
        # A turn that the model's API ended has no other trace.
        return Item(Kind.ERROR) if _filled(payload.error) else None
    kind = _EVENTS.get(payload.type or "")
    if kind in (Kind.USER, Kind.ASSISTANT, Kind.THINKING):
        return Item(kind) if _filled(payload.message, payload.text) else None
    return Item(kind) if kind is not None else None


def message_text(content: object) -> str:
    """The text of a message's content: a string, or a list of parts; an image is named."""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif isinstance(part, dict) and part.get("type") in _IMAGES:
            texts.append("[image]")
    return "\n\n".join(text for text in texts if text)


def _prompt(payload: Payload) -> str:
    """What a person typed, for the session's title; "" for what begins with a tag."""
    raw = payload.item.content if payload.item else payload.message
    try:
        text = message_text(loads(bytes(raw)))
    except UnreadableLineError:
        return ""
    return "" if text.lstrip().startswith("<") else text[:_PROMPT_LENGTH]


def _entry(line: Line, payload: Payload) -> Item | None:
    if line.type == "response_item":
        return _response_item(payload)
    if line.type == "event_msg":
        return _event(payload)
    return Item(Kind.SYSTEM) if line.type == "compacted" else None


def index(data: bytes) -> Indexed:
    """The entries of one line. Never raises."""
    try:
        line = decode(data)
    except UnreadableLineError:
        return Indexed(items=(Item(Kind.UNREADABLE),))
    at = utc(line.timestamp)
    payload = line.payload
    if payload is None:
        return Indexed(at=at)
    if line.type == "session_meta":
        return Indexed(at=at, session_id=payload.id or "", folder=payload.cwd or "")
    item = _entry(line, payload)
    named = line.type == "event_msg" and payload.type == "thread_name_updated"
    return Indexed(
        items=(item,) if item is not None else (),
        at=at,
        prompt=_prompt(payload) if item is not None and item.kind is Kind.USER else "",
        title=(payload.thread_name or "")[:_PROMPT_LENGTH] if named else "",
    )
