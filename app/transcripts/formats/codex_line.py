"""The parts of a rollout line that its index needs, decoded fast, and slowly when it must be.

Shapes: rollouts of Codex 0.53 to 0.171. Everything not named here is skipped.
"""

import json
import types
from datetime import datetime
from typing import Any, get_args

import msgspec

from app.transcripts.formats.base import UnreadableLineError
from app.transcripts.formats.lenient import is_time, loads

NO_JSON = msgspec.Raw(b"")


class Item(msgspec.Struct):
    """A turn's item, as ``event_msg/item_completed`` holds it (0.150 and newer)."""

    type: str | None = None
    id: str | None = None
    status: str | None = None
    server: str | None = None
    tool: str | None = None
    mcp_app_resource_uri: str | None = msgspec.field(default=None, name="mcpAppResourceUri")
    source: str | None = None
    receiver_thread_ids: msgspec.Raw = NO_JSON
    content: msgspec.Raw = NO_JSON
    summary_text: msgspec.Raw = NO_JSON
    raw_content: msgspec.Raw = NO_JSON
    text: msgspec.Raw = NO_JSON


class Invocation(msgspec.Struct):
    server: str | None = None
    tool: str | None = None


class Payload(msgspec.Struct):
    type: str | None = None
    id: str | None = None
    session_id: str | None = None
    cwd: str | None = None
    call_id: str | None = None
    name: str | None = None
    namespace: str | None = None
    thread_name: str | None = None
    mcp_app_resource_uri: str | None = None
    item: Item | None = None
    invocation: Invocation | None = None
    message: msgspec.Raw = NO_JSON
    text: msgspec.Raw = NO_JSON
    output: msgspec.Raw = NO_JSON
    result: msgspec.Raw = NO_JSON
    error: msgspec.Raw = NO_JSON


class Line(msgspec.Struct):
    timestamp: datetime | None = None
    type: str | None = None
    payload: Payload | None = None


_decode = msgspec.json.Decoder(Line).decode


def _is(value: object, wanted: object) -> bool:
    return is_time(value) if wanted is datetime else wanted is str and isinstance(value, str)


def _fitting(source: dict[str, Any], shape: type[msgspec.Struct]) -> dict[str, Any]:
    """What of ``source`` has the type that ``shape`` wants."""
    kept: dict[str, Any] = {}
    for field in msgspec.structs.fields(shape):
        if field.encode_name not in source:
            continue
        value = source[field.encode_name]
        wanted = field.type
        if isinstance(wanted, types.UnionType):
            wanted = get_args(wanted)[0]
        if isinstance(wanted, type) and issubclass(wanted, msgspec.Struct):
            if isinstance(value, dict):
                kept[field.encode_name] = _fitting(value, wanted)
        elif wanted is msgspec.Raw or _is(value, wanted):
            kept[field.encode_name] = value
    return kept


def decode(line: bytes) -> Line:
    """The line, with every value of an unexpected type left out. Raises `UnreadableLineError`."""
    try:
        return _decode(line)
    except (ValueError, RecursionError):
        pass  # an unexpected type, or JSON that only the slow reader takes
    source = loads(line)
    if not isinstance(source, dict):
        raise UnreadableLineError("not a JSON object")
    try:
        return _decode(json.dumps(_fitting(source, Line)))
    except (ValueError, RecursionError) as error:
        raise UnreadableLineError(str(error)[:200]) from error
