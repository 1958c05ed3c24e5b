"""A session in which an agent made one call, line by line as the agent's command writes it."""

import json
import re
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from e2e.official.catalog import CLAUDE_CODE

_FOLDER = "/home/dev/ws/official"
_CODEX_LARGEST = 65_536  # bytes of a result; a longer one is cut in the middle


@dataclass(frozen=True)
class Call:
    """A call as it went: what was asked, and the server's own result of it."""

    server: str
    tool: str
    arguments: dict[str, Any]
    resource_uri: str
    result: dict[str, Any]


def _kept(name: str, more: str = "") -> str:
    """A name as it goes into the joined one: Claude Code keeps dashes, Codex does not."""
    return re.sub(rf"[^A-Za-z0-9_{more}]", "_", name)


def _uuid7() -> str:
    """Codex names its threads by time."""
    millis, rest = time.time_ns() // 1_000_000, uuid.uuid4().int & ((1 << 76) - 1)
    return str(uuid.UUID(int=(millis << 80) | (7 << 76) | rest & ~(3 << 62) | (2 << 62)))


def title_of(server: str) -> str:
    """The person's prompt, which becomes the session's title."""
    return f"Show me {server}"


def write(agent: str, folder: Path, call: Call) -> Path:
    """Write the session that made ``call``, with that agent; its file."""
    path, lines = (_claude_code if agent == CLAUDE_CODE else _codex)(folder, call)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    return path


# --- Claude Code 2.1.332 ---------------------------------------------------------------------


def _claude_code(folder: Path, call: Call) -> tuple[Path, list[dict[str, Any]]]:
    session, prompt = str(uuid.uuid4()), str(uuid.uuid4())
    use = f"toolu_{uuid.uuid4().hex[:24]}"
    name = f"mcp__{_kept(call.server, '-')}__{_kept(call.tool, '-')}"
    lines: list[dict[str, Any]] = []
    parent: str | None = None

    def add(kind: str, **fields: Any) -> None:
        nonlocal parent
        own = str(uuid.uuid4())
        lines.append(
            {"parentUuid": parent, "isSidechain": False, "type": kind, **fields}
            | {"uuid": own, "timestamp": f"2026-11-30T20:42:{len(lines):02d}.518Z"}
            | {"userType": "external", "entrypoint": "sdk-cli", "cwd": _FOLDER}
            | {"sessionId": session, "version": "2.1.332", "gitBranch": "HEAD"}
        )
        parent = own

    def message(message_id: str, block: dict[str, Any], stop: str) -> dict[str, Any]:
        known = {"type": "message", "role": "assistant", "model": "claude-opus-5-5"}
        usage = {"input_tokens": 12370, "output_tokens": 42}
        return {"id": message_id, **known, "content": [block], "stop_reason": stop, "usage": usage}

    add("user", promptId=prompt, message={"role": "user", "content": title_of(call.server)})
    asked = {"type": "tool_use", "id": use, "name": name, "input": call.arguments}
    add("assistant", message=message("msg_1", asked, "tool_use"), requestId="req_1")
    content, meta = _claude_content(call.result)
    block = {"tool_use_id": use, "type": "tool_result", "content": content}
    failed = {"is_error": True} if call.result.get("isError") else {}
    add(
        "user",
        promptId=prompt,
        message={"role": "user", "content": [block | failed]},
        toolUseResult=content,
        **({"mcpMeta": meta} if meta else {}),
        sourceToolAssistantUUID=parent,
    )
    said = {"type": "text", "text": "There it is."}
    add("assistant", message=message("msg_2", said, "end_turn"), requestId="req_2")
    slug = re.sub(r"[^A-Za-z0-9]", "-", _FOLDER)
    return folder / "projects" / slug / f"{session}.jsonl", lines


def _claude_content(result: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """What the command tells the model, and what it keeps of the result beside that."""
    meta: dict[str, Any] = {
        key: result[key] for key in ("_meta", "structuredContent") if key in result
    }
    links = [block for block in result["content"] if block["type"] == "resource_link"]
    if links:
        meta["resourceLinks"] = [
            {key: link[key] for key in ("uri", "name", "mimeType") if key in link} for link in links
        ]
    blocks = [_claude_block(block) for block in result["content"]]
    if "structuredContent" not in result:
        return blocks, meta
    text = json.dumps(result["structuredContent"], separators=(",", ":"), ensure_ascii=False)
    others = [
        block
        for block, given in zip(blocks, result["content"], strict=True)
        if given["type"] != "text"
    ]
    return ([*others, {"type": "text", "text": text}] if others else text), meta


def _claude_block(block: dict[str, Any]) -> dict[str, Any]:
    kind = block["type"]
    if kind == "image":
        source = {"type": "base64", "media_type": block["mimeType"], "data": block["data"]}
        return {"type": "image", "source": source}
    if kind == "audio":
        text = f"[Audio from server] Binary content ({block['mimeType']}) saved to a file"
    elif kind == "resource_link":
        text = f"[Resource link: {block['name']}] {block['uri']}"
    elif kind == "resource":
        inner = block["resource"]
        text = f"[Resource from server at {inner['uri']}] {inner.get('text', '')}"
    else:
        text = block["text"]
    return {"type": "text", "text": text}


# --- Codex 0.171 -----------------------------------------------------------------------------


def _codex(folder: Path, call: Call) -> tuple[Path, list[dict[str, Any]]]:
    thread, turn, call_id = _uuid7(), _uuid7(), f"call_{uuid.uuid4().hex[:24]}"
    lines: list[dict[str, Any]] = []

    def add(kind: str, payload: dict[str, Any]) -> None:
        time = f"2026-11-30T20:42:{len(lines):02d}.237Z"
        lines.append({"timestamp": time, "ordinal": len(lines), "type": kind, "payload": payload})

    def item(kind: str, **fields: Any) -> None:
        payload = {"type": "item_completed", "thread_id": thread, "turn_id": turn}
        add("event_msg", payload | {"item": {"type": kind, **fields}})

    add(
        "session_meta",
        {"session_id": thread, "id": thread, "cwd": _FOLDER, "source": "exec"}
        | {"originator": "codex_exec", "cli_version": "0.171.0", "thread_source": "user"},
    )
    add("event_msg", {"type": "task_started", "turn_id": turn, "started_at": 1796071328})
    prompt = title_of(call.server)
    asked = [{"type": "input_text", "text": prompt}]
    add("response_item", {"type": "message", "id": _uuid7(), "role": "user", "content": asked})
    item("UserMessage", id=_uuid7(), content=[{"type": "text", "text": prompt}])
    add(
        "response_item",
        {"type": "function_call", "status": "completed", "call_id": call_id}
        | {"name": _kept(call.tool), "namespace": f"mcp__{_kept(call.server)}"}
        | {"arguments": json.dumps(call.arguments)},
    )
    item(
        "McpToolCall",
        id=call_id,
        server=call.server,
        tool=call.tool,
        arguments=call.arguments,
        mcpAppResourceUri=call.resource_uri,
        status="completed",
        result=_codex_result(call.result),
        duration={"secs": 0, "nanos": 3404995},
    )
    output = f"Wall time: 0.0047 seconds\nOutput:\n{json.dumps(call.result)[:2000]}"
    add("response_item", {"type": "function_call_output", "call_id": call_id, "output": output})
    item("AgentMessage", id=_uuid7(), content=[{"type": "Text", "text": "There it is."}])
    add("event_msg", {"type": "task_complete", "turn_id": turn, "duration_ms": 223})
    name = f"rollout-2026-11-30T20-42-08-{thread}.jsonl"
    return folder / "sessions" / "2026" / "11" / "30" / name, lines


def _codex_result(result: dict[str, Any]) -> dict[str, Any]:
    whole = json.dumps(result, separators=(",", ":"), ensure_ascii=False)
    if len(whole.encode()) <= _CODEX_LARGEST:
        return result
    half = _CODEX_LARGEST // 2
    cut = f"…{len(whole) - 2 * half} chars truncated…"
    return {"content": [{"type": "text", "text": whole[:half] + cut + whole[-half:]}]}
