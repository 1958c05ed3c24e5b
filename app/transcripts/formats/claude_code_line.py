"""The parts of a Claude Code line that its index needs, decoded fast, and slowly when it must be.

Shapes: transcripts of Claude Code 2.0.0 to 2.1.332. Everything not named here is skipped.
"""

import json
from datetime import datetime
from typing import Any

import msgspec

from app.transcripts.formats.base import UnreadableLineError
from app.transcripts.formats.lenient import is_time, loads

NO_JSON = msgspec.Raw(b"")


class Block(msgspec.Struct):
    """One Messages-API content block."""

    type: str | None = None
    id: str | None = None
    name: str | None = None
    tool_use_id: str | None = None
    is_error: bool | None = None
    text: msgspec.Raw = NO_JSON
    thinking: msgspec.Raw = NO_JSON
    content: msgspec.Raw = NO_JSON


class Message(msgspec.Struct):
    model: str | None = None
    content: str | list[Block] | None = None


class Attachment(msgspec.Struct):
    type: str | None = None
    commandMode: str | None = None  # noqa: N815 -- the agent's own key
    prompt: msgspec.Raw = NO_JSON


class Line(msgspec.Struct, rename="camel"):
    type: str | None = None
    subtype: str | None = None
    timestamp: datetime | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    cwd: str | None = None
    agent_id: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    is_api_error_message: bool | None = None
    tool_denial_kind: str | None = None
    tool_use_result: msgspec.Raw = NO_JSON
    message: Message | None = None
    attachment: Attachment | None = None
    summary: str | None = None
    custom_title: str | None = None
    attribution_mcp_server: str | None = None
    attribution_mcp_tool: str | None = None


_decode = msgspec.json.Decoder(Line).decode

_STRINGS = (
    "type",
    "subtype",
    "uuid",
    "parentUuid",
    "sessionId",
    "cwd",
    "agentId",
    "toolDenialKind",
    "summary",
    "customTitle",
    "attributionMcpServer",
    "attributionMcpTool",
)
_FLAGS = (
    "isSidechain",
    "isMeta",
    "isCompactSummary",
    "isVisibleInTranscriptOnly",
    "isApiErrorMessage",
)
_BLOCK_STRINGS = ("type", "id", "name", "tool_use_id")
_BLOCK_RAW = ("text", "thinking", "content")


def _only(source: dict[str, Any], keys: tuple[str, ...], kind: type) -> dict[str, Any]:
    return {key: source[key] for key in keys if isinstance(source.get(key), kind)}


def _raw(source: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: source[key] for key in keys if key in source}


def _block(source: object) -> dict[str, Any]:
    # Something that is no block keeps its place, so that the others keep theirs.
    if not isinstance(source, dict):
        return {}
    return (
        _only(source, _BLOCK_STRINGS, str)
        | _only(source, ("is_error",), bool)
        | _raw(source, _BLOCK_RAW)
    )


def _message(source: dict[str, Any]) -> dict[str, Any]:
    message = _only(source, ("model",), str) | _only(source, ("content",), str)
    if isinstance(source.get("content"), list):
        message["content"] = [_block(block) for block in source["content"]]
    return message


def _slowly(line: bytes) -> Line:
    source = loads(line)
    if not isinstance(source, dict):
        raise UnreadableLineError("not a JSON object")
    kept = _only(source, _STRINGS, str) | _only(source, _FLAGS, bool)
    kept |= _raw(source, ("toolUseResult",))
    if is_time(source.get("timestamp")):
        kept["timestamp"] = source["timestamp"]
    if isinstance(source.get("message"), dict):
        kept["message"] = _message(source["message"])
    if isinstance(source.get("attachment"), dict):
        attachment = source["attachment"]
        kept["attachment"] = _only(attachment, ("type", "commandMode"), str) | _raw(
            attachment, ("prompt",)
        )
    return _decode(json.dumps(kept))


def decode(line: bytes) -> Line:
    """The line, with every value of an unexpected type left out. Raises `UnreadableLineError`."""
    try:
        return _decode(line)
    except (ValueError, RecursionError):
        pass  # an unexpected type, or JSON that only the slow reader takes
    try:
        return _slowly(line)
    except (ValueError, RecursionError) as error:
        raise UnreadableLineError(str(error)[:200]) from error
