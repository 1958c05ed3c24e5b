"""What a Claude Code line holds: its entries, and what it says of its session."""

import re
from collections.abc import Iterator

import msgspec

from app.db.tables import CallState
from app.transcripts.formats.base import Attributed, Indexed, Item, Kind, UnreadableLineError
from app.transcripts.formats.claude_code_line import (
    Attachment,
    Block,
    Line,
    Message,
    decode,
)
from app.transcripts.formats.lenient import loads, utc

CALL_TYPES = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
SYNTHETIC_MODEL = "<synthetic>"

# A user line that no person typed begins with one of these.
SYSTEM_TAGS = (
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<system-reminder>",
)
INTERRUPTED_TEXT = "[Request interrupted by user"
_REJECTED_RESULT = "User rejected tool use"
_REJECTED_CONTENT = "The user doesn't want to proceed with this tool use"
_SYNTHETIC_RESULT = "[Tool call interrupted:"
_HEAD = 80  # longer than every text above

# Blocks past this many in one line are left out: no agent writes so many.
MAX_ITEMS = 2_000
_PROMPT_LENGTH = 2_000
_NOT_KEPT = re.compile(r"[^A-Za-z0-9_-]")


def is_result(block_type: object) -> bool:
    return isinstance(block_type, str) and block_type.endswith("tool_result")


def result_state(
    *, is_error: bool, denial: str | None, kept: str | None, content: str
) -> tuple[CallState, bool]:
    """The state that a result puts its call in, and whether the agent made the result up.

    ``kept`` is the beginning of ``toolUseResult`` when that is a string (a server's own error
    text stands behind ``Error: `` there, so that it cannot pass for an interruption), ``content``
    the beginning of the result block's text.
    """
    if not is_error:
        return CallState.DONE, False
    head = content if kept is None else kept
    if denial == "interrupted" or head.startswith(_SYNTHETIC_RESULT):
        return CallState.INTERRUPTED, True
    if head == _REJECTED_RESULT or head.startswith(INTERRUPTED_TEXT):
        return CallState.INTERRUPTED, False
    if kept is None and head.startswith(_REJECTED_CONTENT):
        return CallState.INTERRUPTED, False
    return CallState.FAILED, False


def user_kind(text: str, *, hidden: bool) -> Kind:
    """Of a user line's text; ``hidden`` when no person typed it."""
    if text.startswith(INTERRUPTED_TEXT):
        return Kind.ERROR
    return Kind.SYSTEM if hidden or text.startswith(SYSTEM_TAGS) else Kind.USER


def _head(raw: msgspec.Raw) -> str | None:
    """The beginning of a JSON string, undecoded; ``None`` when it is none."""
    data = bytes(memoryview(raw)[: _HEAD + 1])
    if not data.startswith(b'"'):
        return None
    return data[1:].split(b'"', 1)[0].decode("utf-8", "replace")


def _filled(raw: msgspec.Raw) -> bool:
    return memoryview(raw).nbytes > len('""')


def _text(raw: msgspec.Raw) -> str:
    data = bytes(raw)
    if not data:
        return ""
    try:
        value = loads(data)
    except UnreadableLineError:
        return ""
    return value if isinstance(value, str) else ""


class _Started(msgspec.Struct, rename="camel"):
    agent_id: str | None = None


def _agent_id(kept: msgspec.Raw) -> str | None:
    """The sub-agent that a result is of."""
    data = memoryview(kept)
    # Searched before it is parsed: nearly every result is something else.
    if data.nbytes == 0 or data[0] != 0x7B or b'"agentId"' not in bytes(data):
        return None
    try:
        return msgspec.json.decode(data, type=_Started).agent_id
    except (ValueError, RecursionError):
        return None


def _result(line: Line, block: Block, number: int) -> Item:
    state, synthetic = CallState.DONE, False
    if block.is_error:
        state, synthetic = result_state(
            is_error=True,
            denial=line.tool_denial_kind,
            kept=_head(line.tool_use_result),
            content=_head(block.content) or "",
        )
    return Item(
        Kind.TOOL_RESULT,
        number,
        tool_call_id=block.tool_use_id,
        state=state,
        synthetic=synthetic,
        agent_id=_agent_id(line.tool_use_result),
    )


def _hidden(line: Line) -> bool:
    # A sub-agent's prompt inside the main transcript (2.0.0) is the agent's own text.
    return bool(
        line.is_meta
        or line.is_compact_summary
        or line.is_visible_in_transcript_only
        or (line.is_sidechain and not line.agent_id)
    )


def _is_prompt(text: str) -> bool:
    return bool(text.strip()) and not text.lstrip().startswith("<")


def _user(line: Line, content: str | list[Block] | None) -> tuple[list[Item], str]:
    """The entries of a user line, and its prompt ("" when it has none)."""
    if isinstance(content, str):
        if not content.strip():
            return [], ""
        kind = user_kind(content, hidden=_hidden(line))
        prompt = content if kind is Kind.USER and _is_prompt(content) else ""
        return [Item(kind)], prompt
    items: list[Item] = []
    first = -1  # all text and images of the line are one entry, at the first one's place
    texts: list[str] = []
    for number, block in enumerate(content or ()):
        if is_result(block.type):
            items.append(_result(line, block, number))
        elif block.type in ("text", "image", "document"):
            if first < 0:
                first = len(items)
                items.append(Item(Kind.USER, number))
            if block.type == "text" and len(texts) < 20:
                texts.append(_text(block.text))
    prompt = ""
    if first >= 0:
        # An editor puts its own tagged block before what the person typed.
        typed = next((text for text in texts if _is_prompt(text)), texts[0] if texts else "")
        kind = user_kind(typed, hidden=_hidden(line))
        items[first] = Item(kind, items[first].block)
        prompt = typed if kind is Kind.USER and _is_prompt(typed) else ""
    return items, prompt


def _assistant_items(content: list[Block]) -> Iterator[Item]:
    for number, block in enumerate(content):
        if block.type in CALL_TYPES:
            yield Item(Kind.TOOL_CALL, number, tool_call_id=block.id, tool_name=block.name or "")
        elif is_result(block.type):
            state = CallState.FAILED if block.is_error else CallState.DONE
            yield Item(Kind.TOOL_RESULT, number, tool_call_id=block.tool_use_id, state=state)
        elif block.type == "text" and _filled(block.text):
            yield Item(Kind.ASSISTANT, number)
        elif block.type == "thinking" and _filled(block.thinking):
            yield Item(Kind.THINKING, number)


def _assistant(line: Line, message: Message) -> list[Item]:
    if line.is_api_error_message:
        return [Item(Kind.ERROR)]
    if message.model == SYNTHETIC_MODEL:
        return []
    if isinstance(message.content, str):
        return [Item(Kind.ASSISTANT)] if message.content.strip() else []
    return list(_assistant_items(message.content or []))


def prompt_text(prompt: object) -> str:
    """The text of a queued prompt: a string, or a list of content blocks."""
    if isinstance(prompt, str):
        return prompt
    if not isinstance(prompt, list):
        return ""
    texts = [block.get("text") for block in prompt if isinstance(block, dict)]
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _attachment(attachment: Attachment) -> tuple[list[Item], str]:
    kind = attachment.type or ""
    if kind.startswith("hook_"):
        return [Item(Kind.SYSTEM)], ""
    if kind != "queued_command":
        return [], ""
    if attachment.commandMode != "prompt":
        return [Item(Kind.SYSTEM)], ""
    try:
        text = prompt_text(loads(bytes(attachment.prompt)))
    except UnreadableLineError:
        text = ""
    return [Item(Kind.USER)], text if _is_prompt(text) else ""


def _attributed(line: Line) -> Attributed | None:
    """The names of the MCP tool whose result the model was given just before this line."""
    server, tool = line.attribution_mcp_server, line.attribution_mcp_tool
    if not server or not tool:
        return None
    return Attributed(f"mcp__{normalised(server)}__{normalised(tool)}", server, tool)


def normalised(name: str) -> str:
    """``name`` as it stands in the names that the model uses."""
    return _NOT_KEPT.sub("_", name)


def index(data: bytes) -> Indexed:
    """The entries of one line. Never raises."""
    try:
        line = decode(data)
    except UnreadableLineError:
        return Indexed(items=(Item(Kind.UNREADABLE),))
    items: list[Item] = []
    prompt = title = ""
    if line.type == "assistant" and line.message:
        items = _assistant(line, line.message)
    elif line.type == "user" and line.message:
        items, prompt = _user(line, line.message.content)
    elif line.type == "system":
        items = [Item(Kind.SYSTEM)]
    elif line.type == "attachment" and line.attachment:
        items, prompt = _attachment(line.attachment)
    elif line.type == "custom-title":
        title = line.custom_title or ""
    elif line.type == "summary":
        title = line.summary or ""
    return Indexed(
        items=tuple(items[:MAX_ITEMS]),
        at=utc(line.timestamp),
        session_id=line.session_id or "",
        folder=line.cwd or "",
        prompt=prompt[:_PROMPT_LENGTH],
        title=title[:_PROMPT_LENGTH],
        attributed=_attributed(line),
        # A sub-agent inside the main transcript (2.0.0) has a tree of its own.
        uuid=(line.uuid or "") if not line.is_sidechain or line.agent_id else "",
        parent=line.parent_uuid or "",
    )
