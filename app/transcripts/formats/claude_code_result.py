"""The MCP result of a call, put together again from what Claude Code records of it.

Claude Code keeps the Messages-API form that the model sees. With ``structuredContent`` the text
blocks are replaced by its JSON; ``mcpMeta`` keeps ``structuredContent`` and ``_meta`` in the main
transcript; ``toolUseResult`` keeps what was too long for the model; what was too large altogether,
and audio, lie in files beside the transcript. Measured on 2.0.0 to 2.1.332.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from app.db.tables import CallState
from app.transcripts.formats.base import (
    Beside,
    RecordedResult,
    UnreadableLineError,
    nothing_beside,
)
from app.transcripts.formats.claude_code_index import result_state
from app.transcripts.formats.claude_code_text import block_text, content_text
from app.transcripts.formats.lenient import compact, load_object, loads, too_deep

NOTE_TEXT_REPLACED = (
    "The agent recorded the JSON of structuredContent in place of the text that the server sent."
)
NOTE_ALL_REPLACED = (
    "The agent recorded the JSON of structuredContent in place of all that the server sent beside "
    "it: texts, images and links."
)
NOTE_RECOVERED = (
    "structuredContent was read back from the recorded text: this transcript does not hold it."
)
NOTE_TOO_LARGE = (
    "The result was too large for the agent: its text was written to a file beside the transcript."
)
NOTE_SIDE_FILE = "The text was read from the file that the agent wrote beside the transcript."
NOTE_NO_STRUCTURED = (
    "This version of the agent kept neither structuredContent nor the _meta of a result."
)
NOTE_NO_META = "The _meta of a result is not in this transcript: the agent did not keep it here."
NOTE_ERROR_TEXT = (
    "The agent keeps the text of a failed call only: structuredContent is not in the transcript."
)
NOTE_UNKNOWN_TOOL = "The agent knew no tool of this name: nothing was called."
NOTE_NOT_KEPT = "The transcript does not hold this result."
NOTE_INTERRUPTED = "The call was interrupted: its result is not in the transcript."
NOTE_REFUSED = "The call was refused before it reached the server."
NOTE_FLATTENED = "Linked or embedded resources and audio were recorded as text only."
NOTE_LEFT_OUT = "Parts of the result that are no MCP content were left out."
NOTE_TOO_DEEP = "Parts of the result are nested too deeply and were left out."

_ERROR_PREFIX = "Error: "
_UNKNOWN_TOOL = ("<tool_use_error>Error: No such tool available:", "Error: No such tool available:")
# Texts that the agent put in place of a result; the path is that of the machine that wrote it.
_TOO_LARGE = re.compile(
    r"Error: result \([^)\n]{1,100}\) exceeds maximum allowed tokens\. "
    r"Output has been saved to (?:[^\n]*[/\\])?(?P<name>[^/\\\n]{1,255}\.txt)\.\n"
)
_TOO_LARGE_BEGINNING = re.compile(
    r"Error: result \([^)\n]{1,100}\) exceeds maximum allowed tokens\. Output has been saved to "
)
_PERSISTED = "<persisted-output>"
_AUDIO = re.compile(
    r"\[Audio from [^\n]{1,300}?\] Binary content \((?P<media>audio/[\w.+-]{1,60}), \d+ bytes\) "
    r"saved to (?:[^\n]*[/\\])?(?P<name>[^/\\\n]{1,255})"
)
_APART = re.compile(r"[^A-Za-z0-9]+")
# Versions at which something changed, as measured.
_STRUCTURED_SINCE = (2, 0, 22)
_META_SINCE = (2, 1, 32)
_META_OF_SUB_AGENTS_SINCE = (2, 1, 332)
_IMAGES_KEPT_SINCE = (2, 1, 197)
_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})\.(\d{1,6})")
_SCHEMA_HINT = "\n\nThis tool's input schema was not in your prompt when you called it."
# The agent's own line after an image that it saved.
_IMAGE_SOURCE = re.compile(r"\[Image: source: [^\n]*\]")
_FLATTENED = re.compile(r"\[(?:Resource link: |Resource from |Audio from )")
_MCP_PREFIX = "mcp__"
_MAX_LINKS = 100
_LINK_KEYS = ("uri", "name", "title", "description", "mimeType")


def _object(value: object) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _content_of(line: Mapping[str, Any], block: Mapping[str, Any]) -> object:
    """The fuller of the two recorded forms: a string, or a list of Messages-API blocks."""
    kept = line.get("toolUseResult")
    if isinstance(kept, str) or (isinstance(kept, list) and kept):
        return kept
    return block.get("content")


def _links(recorded: object) -> dict[str, dict[str, Any]]:
    """Resource links that ``mcpMeta`` kept, by the text that the agent put in their place."""
    found: dict[str, dict[str, Any]] = {}
    for link in recorded[:_MAX_LINKS] if isinstance(recorded, list) else ():
        if not isinstance(link, dict):
            continue
        texts = {key: link[key] for key in _LINK_KEYS if isinstance(link.get(key), str)}
        if "uri" in texts and "name" in texts:
            beginning = f"[Resource link: {texts['name']}] {texts['uri']}"
            found[beginning] = {"type": "resource_link", **texts}
    return found


class _Builder:
    """Collects MCP blocks and notes; a block is only added when it is valid MCP."""

    def __init__(
        self, links: object = None, tool_name: str = "", beside: Beside = nothing_beside
    ) -> None:
        self.blocks: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self._links = _links(links)
        self._tool_name = tool_name
        self._beside = beside

    def note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)

    def text(self, text: str, source: Mapping[str, Any]) -> None:
        """A text block, or what the agent put a text in place of."""
        after_image = bool(self.blocks) and self.blocks[-1]["type"] == "image"
        if after_image and _IMAGE_SOURCE.fullmatch(text):
            return
        for beginning, link in self._links.items():
            if text.startswith(beginning):
                return self._add(dict(link), {})
        audio = _AUDIO.fullmatch(text)
        if audio and _is_own(self._tool_name, audio["name"], "blob"):
            data = self._beside(audio["name"])
            if data is not None:
                encoded = b64encode(data).decode()
                block = {"type": "audio", "data": encoded, "mimeType": audio["media"]}
                return self._add(block, source)
        if _FLATTENED.match(text):
            self.note(NOTE_FLATTENED)
        self._add({"type": "text", "text": text}, source)

    def image(self, source: Mapping[str, Any]) -> None:
        inner = _object(source.get("source")) or {}
        data, media = inner.get("data"), inner.get("media_type")
        if isinstance(data, str) and isinstance(media, str):
            self._add({"type": "image", "data": data, "mimeType": media}, source)
        else:
            self.note(NOTE_LEFT_OUT)

    def _add(self, block: dict[str, Any], source: Mapping[str, Any]) -> None:
        meta = _object(source.get("_meta"))
        if meta is not None and not too_deep(meta):
            block["_meta"] = meta
        self.blocks.append(block)

    def content(self, content: object) -> None:
        if isinstance(content, str):
            if content:
                self.text(content, {})
            return
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "image":
                self.image(block)
            elif isinstance(block, dict) and isinstance(block.get("text"), str):
                self.text(block["text"], block)
            else:
                self.note(NOTE_LEFT_OUT)


def _recoverable(content: object) -> str | None:
    """The text that is the JSON of structuredContent, where the agent put it: a string in place
    of all text, or the last text beside blocks of another kind. A list of texts alone is the
    server's own.
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not content:
        return None
    last = content[-1]
    only_text = all(_object(block) and block.get("type") == "text" for block in content)
    if only_text or not isinstance(last, dict) or last.get("type") != "text":
        return None
    return block_text(last)


def _slug(name: str) -> str:
    return _APART.sub("-", name).strip("-").lower()


def _is_own(tool_name: str, name: str, what: str) -> bool:
    """Whether the agent would have called a file of this tool's so: a server's text may name any
    file, and must not get at another server's.
    """
    parts = tool_name.removeprefix(_MCP_PREFIX).split("__")
    if what == "tool":
        return _slug(name).startswith(f"mcp-{_slug(tool_name.removeprefix(_MCP_PREFIX))}-")
    servers = {_slug("__".join(parts[:end])) for end in range(1, len(parts))}
    return any(server and _slug(name).startswith(f"mcp-{server}-{what}-") for server in servers)


def _version(line: Mapping[str, Any]) -> tuple[int, ...] | None:
    """The agent's version, ``None`` where the line does not tell it."""
    found = _VERSION.match(line["version"]) if isinstance(line.get("version"), str) else None
    return tuple(map(int, found.groups())) if found else None


def _before(line: Mapping[str, Any], since: tuple[int, ...]) -> bool:
    """Whether an older version wrote the line; where it is not told, none did."""
    version = _version(line)
    return version is not None and version < since


def _keeps_no_meta(line: Mapping[str, Any]) -> bool:
    of_sub_agent = line.get("isSidechain") is True
    return _before(line, _META_OF_SUB_AGENTS_SINCE if of_sub_agent else _META_SINCE)


def _error(line: Mapping[str, Any], block: Mapping[str, Any]) -> dict[str, Any]:
    kept = line.get("toolUseResult")
    if isinstance(kept, str):
        text = kept.removeprefix(_ERROR_PREFIX)
    else:
        text = content_text(block.get("content")).split(_SCHEMA_HINT, 1)[0]
    return {"content": [{"type": "text", "text": text}], "isError": True}


def _meta_into(result: dict[str, Any], mcp_meta: Mapping[str, Any], builder: _Builder) -> None:
    meta = _object(mcp_meta.get("_meta"))
    if meta is None:
        return
    if too_deep(meta):
        builder.note(NOTE_TOO_DEEP)
    else:
        result["_meta"] = meta


def _failed(line: Mapping[str, Any], block: Mapping[str, Any], tool_name: str) -> RecordedResult:
    kept = line.get("toolUseResult")
    denial = line.get("toolDenialKind")
    state, _ = result_state(
        is_error=True,
        denial=denial if isinstance(denial, str) else None,
        kept=kept if isinstance(kept, str) else None,
        content=content_text(block.get("content")),
    )
    if state is CallState.INTERRUPTED:
        return RecordedResult(None, (NOTE_INTERRUPTED,))
    builder = _Builder()
    result = _error(line, block)
    _meta_into(result, _object(line.get("mcpMeta")) or {}, builder)
    if denial is not None:
        builder.note(NOTE_REFUSED)
    elif content_text(block.get("content")).startswith(_UNKNOWN_TOOL):
        builder.note(NOTE_UNKNOWN_TOOL)
    elif tool_name.startswith(_MCP_PREFIX):
        builder.note(NOTE_ERROR_TEXT)
    return RecordedResult(result, tuple(builder.notes))


def _structured(
    content: object, mcp_meta: Mapping[str, Any], builder: _Builder, *, may_read_back: bool
) -> dict[str, Any] | None:
    structured = _object(mcp_meta.get("structuredContent"))
    if structured is not None:
        if not too_deep(structured):
            return structured
        builder.note(NOTE_TOO_DEEP)
        return None
    text = _recoverable(content) if may_read_back else None
    found = load_object(text) if text is not None else None
    if found is not None:
        builder.note(NOTE_RECOVERED)
    return found


def _all_too_large(content: object) -> bool:
    return isinstance(content, str) and bool(
        _TOO_LARGE_BEGINNING.match(content) or content.startswith(_PERSISTED)
    )


def _from_beside(
    content: object, block: Mapping[str, Any], tool_name: str, beside: Beside
) -> object | None:
    """What a side file holds of a result that was too large: its text, or its content blocks."""
    text = content if isinstance(content, str) else ""
    saved = _TOO_LARGE.match(text)
    if saved and _is_own(tool_name, saved["name"], "tool"):
        data = beside(saved["name"])
        return data.decode("utf-8", "replace") if data is not None else None
    call_id = block.get("tool_use_id")
    if text.startswith(_PERSISTED) and isinstance(call_id, str):
        data = beside(f"{call_id}.json")
        if data is None:
            data = beside(f"{call_id}.txt")
            return data.decode("utf-8", "replace") if data is not None else None
        try:
            value = loads(data)
        except UnreadableLineError:
            return None
        return value if isinstance(value, list) else None
    return None


def result(
    line: Mapping[str, Any],
    block: Mapping[str, Any],
    tool_name: str,
    beside: Beside = nothing_beside,
) -> RecordedResult:
    """The ``CallToolResult`` that ``block``, a ``tool_result`` of ``line``, stands for."""
    if block.get("is_error") is True:
        return _failed(line, block, tool_name)
    if not tool_name.startswith(_MCP_PREFIX):
        builder = _Builder()
        builder.content(block.get("content"))
        return RecordedResult({"content": builder.blocks}, tuple(builder.notes))
    content = _content_of(line, block)
    mcp_meta = _object(line.get("mcpMeta")) or {}
    builder = _Builder(mcp_meta.get("resourceLinks"), tool_name, beside)
    no_structured = _before(line, _STRUCTURED_SINCE)
    structured = _structured(content, mcp_meta, builder, may_read_back=not no_structured)
    if _all_too_large(content):
        builder.note(NOTE_TOO_LARGE)
        kept = _from_beside(content, block, tool_name, beside) if structured is None else None
        if structured is not None:
            # What the agent would have recorded, had it been shorter.
            builder.text(compact(structured), {})
        elif kept is not None:
            builder.note(NOTE_SIDE_FILE)
            builder.content(kept)
        else:
            return RecordedResult(None, (*builder.notes, NOTE_NOT_KEPT))
    else:
        builder.content(content)
    built: dict[str, Any] = {"content": builder.blocks}
    if structured is not None:
        built["structuredContent"] = structured
        alone = isinstance(content, str) and _before(line, _IMAGES_KEPT_SINCE)
        builder.note(NOTE_ALL_REPLACED if alone else NOTE_TEXT_REPLACED)
    if no_structured:
        builder.note(NOTE_NO_STRUCTURED)
    elif not mcp_meta and _keeps_no_meta(line):
        builder.note(NOTE_NO_META)
    _meta_into(built, mcp_meta, builder)
    return RecordedResult(built, tuple(builder.notes))
