"""What a view says to the agent: attributed, tainted, capped, and held until a person acts.

Third-party code composes this text, so it never becomes part of an instruction by itself.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import update
from sqlmodel import Session, col

from app.db import tables
from app.mcp_apps.jsonrpc import INVALID_PARAMS, RpcError
from app.mcp_apps.resolve import PanelCall
from app.text import one_line, storable

MAX_CHARACTERS: Final = 4000


def attribution(message: tables.ViewMessage) -> str:
    """The line that tells the agent a widget's words from a person's."""
    what = "context update" if message.kind == tables.MessageKind.CONTEXT else "message"
    # A bracket in a name could close the line early and forge another.
    name = one_line(f"{message.server}/{message.tool}").replace("[", "(").replace("]", ")")
    return f"[MCP App {what} from {name}]"


def record(
    db: Session, panel: PanelCall, kind: tables.MessageKind, params: object
) -> tables.ViewMessage:
    """Put a ``ui/message`` or ``ui/update-model-context`` into the outbox, held.

    Raises ``RpcError`` -32602 for params that are not of the method's shape, that hold anything
    but text, or that are longer than ``MAX_CHARACTERS``. Nothing is cut silently.
    """
    if not isinstance(params, Mapping):
        raise RpcError(INVALID_PARAMS, "params must be an object")
    text = _message_text(params) if kind == tables.MessageKind.MESSAGE else _context_text(params)
    if len(text) > MAX_CHARACTERS:
        raise RpcError(
            INVALID_PARAMS,
            f"The text has {len(text):,} characters; at most {MAX_CHARACTERS:,} are taken.",
        )
    if kind == tables.MessageKind.CONTEXT:
        _replace_earlier(db, panel)
    message = tables.ViewMessage(
        session_id=panel.call.session_id,
        tool_call_id=storable(panel.call.tool_call_id),
        address=panel.call.address,
        server=storable(panel.server_name),
        tool=storable(panel.tool.name),
        kind=kind,
        text=storable(text),
        taint=storable(panel.principal),
    )
    db.add(message)
    return message


def _replace_earlier(db: Session, panel: PanelCall) -> None:
    """Each context update of a view overwrites the one before it (SEP-1865)."""
    row = tables.ViewMessage
    db.execute(
        update(row)
        .where(
            col(row.session_id) == panel.call.session_id,
            col(row.tool_call_id) == panel.call.tool_call_id,
            col(row.kind) == tables.MessageKind.CONTEXT,
            col(row.state) == tables.MessageState.HELD,
        )
        .values(state=tables.MessageState.REPLACED)
    )


def _message_text(params: Mapping[str, Any]) -> str:
    if params.get("role", "user") != "user":
        raise RpcError(INVALID_PARAMS, "role must be user")
    text = _blocks_text(params.get("content"))
    if not text.strip():
        raise RpcError(INVALID_PARAMS, "The message is empty.")
    return text


def _context_text(params: Mapping[str, Any]) -> str:
    parts = []
    if params.get("content") is not None:
        parts.append(_blocks_text(params["content"]))
    structured = params.get("structuredContent")
    if structured is not None:
        if not isinstance(structured, Mapping):
            raise RpcError(INVALID_PARAMS, "structuredContent must be an object")
        parts.append(json.dumps(structured, ensure_ascii=False))
    return "\n\n".join(part for part in parts if part)


def _blocks_text(content: object) -> str:
    """Text of the content blocks; the specification's prose allows a single one, its schema a
    list, so both are taken.
    """
    blocks = [content] if isinstance(content, Mapping) else content
    if not isinstance(blocks, list):
        raise RpcError(INVALID_PARAMS, "content must be a content block or a list of them")
    texts = []
    for block in blocks:
        if not isinstance(block, Mapping) or block.get("type") != "text":
            raise RpcError(INVALID_PARAMS, "This host takes text content only.")
        if not isinstance(block.get("text"), str):
            raise RpcError(INVALID_PARAMS, "a text block must hold a text")
        texts.append(block["text"])
    return "\n\n".join(texts)
