"""The text of a Claude Code entry, as a person reads it."""

import re
from collections.abc import Mapping
from typing import Any

from app.transcripts.formats.base import Body
from app.transcripts.formats.claude_code_index import is_result, prompt_text
from app.transcripts.formats.lenient import pretty

# What every line has; the rest is what a system line says.
_COMMON = frozenset(
    {
        "type",
        "subtype",
        "uuid",
        "parentUuid",
        "logicalParentUuid",
        "timestamp",
        "sessionId",
        "cwd",
        "version",
        "gitBranch",
        "userType",
        "entrypoint",
        "isSidechain",
        "isMeta",
        "slug",
        "level",
        "agentId",
        "rendered",
        "rowSource",
        "promptId",
    }
)
_COMMAND = re.compile(
    r"<command-name>(?P<name>.{0,200}?)</command-name>"
    r"(?:.{0,2000}?<command-args>(?P<args>.*?)</command-args>)?",
    re.DOTALL,
)
_TAGGED = re.compile(r"<(?P<tag>[a-z-]{1,40})>(?P<text>.*)</(?P=tag)>\s*", re.DOTALL)
_TAG_LABELS = {
    "local-command-stdout": "command output",
    "local-command-stderr": "command errors",
    "local-command-caveat": "note to the agent",
    "bash-stdout": "shell output",
    "bash-stderr": "shell errors",
    "task-notification": "background task",
    "system-reminder": "note to the agent",
}


def _typed(text: str) -> str:
    """What a person typed, from the tags that the agent puts around a command."""
    if text.lstrip().startswith("<command-"):
        command = _COMMAND.search(text)
        if command:
            return f"{command['name'].strip()} {(command['args'] or '').strip()}".strip()
    if text.startswith("<bash-input>"):
        return "! " + text.removeprefix("<bash-input>").removesuffix("</bash-input>")
    return text


def block_text(block: object) -> str:
    """The text of one content block; a placeholder for an image or a document."""
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return ""
    kind = block.get("type")
    if kind in ("image", "document"):
        source = block.get("source")
        media = source.get("media_type") if isinstance(source, dict) else None
        return f"[{kind}: {media}]" if isinstance(media, str) else f"[{kind}]"
    for key in ("text", "thinking", "content"):
        if isinstance(block.get(key), str):
            return str(block[key])
    return ""


def content_text(content: object) -> str:
    """The text of a message's or a result's content: a string, or a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n\n".join(text for text in map(block_text, content) if text)
    return ""


def _user(line: Mapping[str, Any], message: Mapping[str, Any], sidechain: bool) -> Body:
    content = message.get("content")
    if isinstance(content, list):
        content = [
            block
            for block in content
            if not (isinstance(block, dict) and is_result(block.get("type")))
        ]
    text = content_text(content)
    if line.get("isCompactSummary") is True:
        return Body(text, label="summary of the conversation so far", sidechain=sidechain)
    tagged = _TAGGED.fullmatch(text)
    if tagged and tagged["tag"] in _TAG_LABELS:
        return Body(tagged["text"], label=_TAG_LABELS[tagged["tag"]], sidechain=sidechain)
    label = "note to the agent" if line.get("isMeta") is True else ""
    return Body(_typed(text), label=label, sidechain=sidechain)


def _blocks(message: Mapping[str, Any]) -> list[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def _label(value: object) -> str:
    return value.replace("_", " ") if isinstance(value, str) else ""


def _said(source: Mapping[str, Any]) -> str:
    """What a system line or an attachment says: its own text, else all its particular fields."""
    for key in ("content", "blockingError", "prompt"):
        value = source.get(key)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return "\n".join(value)
        text = value if isinstance(value, str) else prompt_text(value)
        if text:
            return text
    rest = {key: value for key, value in source.items() if key not in _COMMON}
    return pretty(rest) if rest else ""


def block_at(line: Mapping[str, Any], block: int) -> Mapping[str, Any]:
    """The content block at a place; empty when there is none."""
    message = line.get("message")
    blocks = _blocks(message) if isinstance(message, dict) else []
    found = blocks[block] if 0 <= block < len(blocks) else None
    return found if isinstance(found, dict) else {}


def read(line: Mapping[str, Any], block: int) -> Body:
    """The entry at ``block`` of a line."""
    kind = line.get("type")
    message = line.get("message")
    sidechain = line.get("isSidechain") is True and not line.get("agentId")
    if kind == "system":
        return Body(_said(line), label=_label(line.get("subtype")), sidechain=sidechain)
    if kind == "attachment":
        attachment = line.get("attachment")
        source = attachment if isinstance(attachment, dict) else {}
        if source.get("commandMode") == "prompt":
            return Body(prompt_text(source.get("prompt")), sidechain=sidechain)
        return Body(_said(source), label=_label(source.get("type")), sidechain=sidechain)
    if not isinstance(message, dict):
        return Body("")
    found = block_at(line, block)
    if is_result(found.get("type")):
        return Body(content_text(found.get("content")), sidechain=sidechain)
    if kind == "user":
        return _user(line, message, sidechain)
    if isinstance(message.get("content"), str):
        return Body(message["content"], sidechain=sidechain)
    return Body(block_text(found), sidechain=sidechain)
