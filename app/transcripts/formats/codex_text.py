"""The text of a rollout's entry, as a person reads it."""

import re
from collections.abc import Mapping
from typing import Any

from app.transcripts.formats.base import Body
from app.transcripts.formats.codex_index import message_text
from app.transcripts.formats.lenient import load_object, pretty, too_deep

_TURN_ENDS = {
    "interrupted": "The turn was interrupted.",
    "replaced": "The turn was replaced by another one.",
}
_HEADING = re.compile(r"^\*\*([^*\n]+)\*\*$", re.MULTILINE)
_COMPACTED = "The conversation so far was summed up for the model."


def fields(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def item_of(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The turn's item in an ``event_msg/item_completed``; empty for other payloads."""
    return fields(payload.get("item"))


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def output_text(output: object) -> str:
    """Of what the model was given: a string, or a list of texts and images. Older versions put
    the JSON of an object around a command's output.
    """
    if isinstance(output, dict):
        output = output.get("content")
    if isinstance(output, str) and output.startswith('{"output":'):
        inner = load_object(output)
        if inner is not None and isinstance(inner.get("output"), str):
            return str(inner["output"])
    return message_text(output)


def content_text(content: object) -> str:
    """The texts of MCP content blocks; other blocks are named."""
    texts: list[str] = []
    for block in content if isinstance(content, list) else ():
        inner = fields(block)
        text = inner.get("text", fields(inner.get("resource")).get("text"))
        if isinstance(text, str):
            texts.append(text)
        elif isinstance(inner.get("type"), str):
            what = inner.get("uri", inner.get("mimeType", ""))
            texts.append(
                f"[{inner['type'].replace('_', ' ')}: {what}]" if what else f"[{inner['type']}]"
            )
    return "\n\n".join(text for text in texts if text)


def _mcp(result: object, error: object) -> str:
    found = fields(result)
    if not found:
        return text_of(fields(error).get("message")) or text_of(error)
    text = content_text(found.get("content"))
    structured = found.get("structuredContent")
    return text or (pretty(structured) if structured is not None else "")


def _command(item: Mapping[str, Any]) -> str:
    output = text_of(item.get("aggregated_output"))
    code = item.get("exit_code")
    if not isinstance(code, int) or code == 0:
        return output
    return f"{output.rstrip()}\n\nExit code {code}".lstrip("\n")


def _changes(item: Mapping[str, Any]) -> str:
    parts = [text_of(item.get(stream)).strip() for stream in ("stdout", "stderr")]
    for path, change in fields(item.get("changes")).items():
        body = fields(change)
        kind = text_of(body.get("type"))
        moved = text_of(body.get("move_path"))
        head = f"{kind} {path}" + (f" → {moved}" if moved else "")
        text = text_of(body.get("unified_diff")) or text_of(body.get("content"))
        parts.append(f"{head}\n{text}".strip())
    return "\n\n".join(part for part in parts if part)


def _spawned(item: Mapping[str, Any]) -> Body:
    threads = item.get("receiver_thread_ids")
    thread = text_of(threads[0]) if isinstance(threads, list) and threads else ""
    agents = item.get("receiver_agents")
    named = fields(agents[0]) if isinstance(agents, list) and agents else {}
    name = text_of(named.get("agent_nickname"))
    return Body(f"Sub-agent {name} ({thread})" if name else f"Sub-agent {thread}")


def _thought(text: str) -> str:
    """Thinking is shown as plain text; its headings are Markdown's bold, alone on a line."""
    return _HEADING.sub(r"\1", text)


def _rest(source: Mapping[str, Any], *known: str) -> str:
    rest = {key: value for key, value in source.items() if key not in {"type", "id", *known}}
    return pretty(rest) if rest else ""


def _label(kind: str) -> str:
    """``EnteredReviewMode`` and ``entered_review_mode`` are both ``entered review mode``."""
    spaced = "".join(f" {char.lower()}" if char.isupper() else char for char in kind)
    return spaced.replace("_", " ").strip()


def _item(item: Mapping[str, Any]) -> Body:
    kind = text_of(item.get("type"))
    if kind in ("UserMessage", "AgentMessage"):
        return Body(message_text(item.get("content")))
    if kind == "Plan":
        return Body(text_of(item.get("text")))
    if kind == "Reasoning":
        summary = message_text(item.get("summary_text"))
        return Body(_thought(summary or message_text(item.get("raw_content"))))
    if kind == "McpToolCall":
        return Body(_mcp(item.get("result"), item.get("error")))
    if kind == "CommandExecution":
        return Body(_command(item))
    if kind == "FileChange":
        return Body(_changes(item))
    if kind == "CollabAgentToolCall":
        return _spawned(item)
    if kind == "HookPrompt":
        return Body(message_text(item.get("fragments")), label="hook")
    if kind == "WebSearch":
        return Body(_rest(fields(item.get("action"))))
    return Body(_rest(item), label=_label(kind))


def _error(error: object) -> str:
    """Of a turn's end. What the model's API answered may be JSON, as it came."""
    message = text_of(fields(error).get("message")) or text_of(error)
    answer = load_object(message) or {}
    said = fields(answer.get("error")).get("message")
    return said if isinstance(said, str) and said else message


def _event(payload: Mapping[str, Any]) -> Body:
    kind = text_of(payload.get("type"))
    if kind == "item_completed":
        return _item(item_of(payload))
    if kind == "mcp_tool_call_end":
        result = fields(payload.get("result"))
        return Body(_mcp(result.get("Ok"), result.get("Err")))
    if kind in ("task_complete", "turn_complete"):
        return Body(_error(payload.get("error")))
    if kind == "error":
        return Body(_error(payload))
    if kind == "turn_aborted":
        reason = text_of(payload.get("reason"))
        return Body(
            _TURN_ENDS.get(reason, f"The turn was ended: {reason or 'no reason is recorded'}.")
        )
    if kind in ("user_message", "agent_message"):
        images = payload.get("images")
        count = len(images) if isinstance(images, list) else 0
        texts = [text_of(payload.get("message")), *["[image]"] * min(count, 20)]
        return Body("\n\n".join(text for text in texts if text))
    if kind.startswith("agent_reasoning"):
        return Body(_thought(text_of(payload.get("text"))))
    return Body(_rest(payload), label=_label(kind))


def read(line: Mapping[str, Any]) -> Body:
    """The entry of a line."""
    payload = fields(line.get("payload"))
    if line.get("type") == "event_msg":
        return _event(payload)
    if line.get("type") == "compacted":
        summary = text_of(payload.get("message"))
        if summary:
            return Body(summary, label="summary of the conversation so far")
        return Body(_COMPACTED, label="compaction")
    return Body(output_text(payload.get("output")))


def arguments(payload: Mapping[str, Any]) -> dict[str, Any] | None:
    """Of a call, ``None`` when they cannot be read."""
    item = item_of(payload)
    kind = payload.get("type")
    if kind == "custom_tool_call":
        return {"input": text_of(payload.get("input"))}
    if item.get("type") == "WebSearch":
        return {"query": text_of(item.get("query"))}
    if item.get("type") == "CommandExecution":
        return {"command": item.get("command")} if not too_deep(item.get("command")) else None
    if kind == "local_shell_call":
        found: object = payload.get("action")
    elif kind == "mcp_tool_call_end":
        found = fields(payload.get("invocation")).get("arguments")
    else:
        found = item.get("arguments") if item else payload.get("arguments")
    if found is None or found == "":
        return {}
    if isinstance(found, str):
        return load_object(found)
    return found if isinstance(found, dict) and not too_deep(found) else None
