"""Hand-made rollout lines, as Codex 0.171 writes them."""

import json
from typing import Any

THREAD = "01a22e22-0000-7000-8000-000000000001"
VIEW = "ui://probe/view.html"


def line(kind: str, payload: Any, **fields: Any) -> bytes:
    """One line, without its newline."""
    common = {"timestamp": "2026-11-30T20:00:00.000Z", "ordinal": 1, "type": kind}
    return json.dumps(common | {"payload": payload} | fields).encode()


def meta(thread: str = THREAD, **fields: Any) -> bytes:
    payload = {"id": thread, "session_id": thread, "cwd": "/home/dev/project", "source": "exec"}
    return line("session_meta", payload | fields)


def sub_agent(thread: str, root: str = THREAD) -> bytes:
    """The first line of a sub-agent's rollout."""
    spawn = {"thread_spawn": {"parent_thread_id": root, "depth": 1}}
    return meta(thread, session_id=root, parent_thread_id=root, source={"subagent": spawn})


def event(kind: str, **fields: Any) -> bytes:
    return line("event_msg", {"type": kind} | fields)


def item(kind: str, **fields: Any) -> bytes:
    return event("item_completed", thread_id=THREAD, turn_id="t", item={"type": kind} | fields)


def user(text: str) -> bytes:
    return item("UserMessage", id="u", content=[{"type": "text", "text": text}])


def assistant(text: str) -> bytes:
    return item("AgentMessage", id="m", content=[{"type": "Text", "text": text}])


def response(kind: str, **fields: Any) -> bytes:
    return line("response_item", {"type": kind} | fields)


def call(
    call_id: str, name: str = "structured", namespace: str | None = "mcp__probe", **arguments: Any
) -> bytes:
    fields = {"namespace": namespace} if namespace else {}
    text = json.dumps(arguments)
    return response("function_call", call_id=call_id, name=name, arguments=text, **fields)


def output(call_id: str, text: Any = 'Wall time: 0.1 seconds\nOutput:\n{"a":1}') -> bytes:
    return response("function_call_output", call_id=call_id, output=text)


OK = {"content": [{"type": "text", "text": "ok"}]}


def mcp(call_id: str, result: Any = OK, **fields: Any) -> bytes:
    """The item of a call that ended."""
    known = {"server": "probe", "tool": "structured", "arguments": {}, "status": "completed"}
    fields = known | {"mcpAppResourceUri": VIEW, "result": result} | fields
    return item("McpToolCall", id=call_id, **fields)


def legacy_mcp(call_id: str, result: Any, **fields: Any) -> bytes:
    """The same, as 0.130 to 0.147 have it."""
    known = {"invocation": {"server": "probe", "tool": "structured", "arguments": {"q": 1}}}
    fields = known | {"mcp_app_resource_uri": VIEW} | fields
    return event("mcp_tool_call_end", call_id=call_id, result=result, **fields)
