"""The MCP result of a call, as Codex records it.

From 0.130 on the whole ``CallToolResult`` is in the rollout; from 0.163 on one above 65,536 bytes
is replaced by one text: the beginning and the end of its JSON. Before 0.130 there is only what the
model was given. Measured on 0.53 to 0.171.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from app.transcripts.formats.base import RecordedResult, UnreadableLineError
from app.transcripts.formats.codex_index import aborted, call_error, refused
from app.transcripts.formats.codex_text import fields, item_of, output_text, read, text_of
from app.transcripts.formats.lenient import compact, load_object, loads, too_deep

NOTE_CUT = "The agent's log kept only the first and last part of this result."
NOTE_ERROR = "The call ended with an error and no result: this is the error's text."
NOTE_AUDIO = "Audio was left out by the agent's log."
NOTE_INTERRUPTED = "The call was interrupted: its result is not in the transcript."
NOTE_REFUSED = "The call was refused before it reached a server."
NOTE_LEFT_OUT = "Parts of the result that are no MCP content were left out."
NOTE_TOO_DEEP = "Parts of the result are nested too deeply and were left out."
NOTE_NOT_KEPT = "The transcript does not hold this result."
NOTE_FOR_THE_MODEL = (
    "The transcript holds only what the model was given of this result: its _meta, and whether it "
    "is an error, are not known."
)

_MCP_PREFIX = "mcp__"
# Whatever is replaced leaves a text that is nearly as long as what is kept.
_CUT_BYTES = 60_000
_CUT = re.compile(r"…\d+ chars truncated…")
_CUT_BEGINNING = '{"content":'
_NO_AUDIO = "<audio content omitted because you do not support audio input>"
_HEADER = re.compile(r"Wall time: [\d.]+ seconds\nOutput:(?:\n|\Z)")
_DATA_URL = re.compile(r"data:(?P<media>[\w.+-]+/[\w.+-]+);base64,(?P<data>[A-Za-z0-9+/=]*)")
_MAX_BLOCKS = 2_000


def _is_content(block: Mapping[str, Any]) -> bool:
    def strings(source: Mapping[str, Any], *keys: str) -> bool:
        return all(isinstance(source.get(key), str) for key in keys)

    kind = block.get("type")
    if kind == "text":
        return strings(block, "text")
    if kind in ("image", "audio"):
        return strings(block, "data", "mimeType")
    if kind == "resource_link":
        return strings(block, "uri", "name")
    resource = fields(block.get("resource"))
    held = strings(resource, "text") or strings(resource, "blob")
    return kind == "resource" and strings(resource, "uri") and held


class _Builder:
    """Collects the parts of a result that are valid MCP, and notes on the others."""

    def __init__(self) -> None:
        self.result: dict[str, Any] = {"content": []}
        self.notes: list[str] = []

    def note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)

    def content(self, content: object) -> None:
        blocks = content if isinstance(content, list) else []
        if len(blocks) > _MAX_BLOCKS:
            self.note(NOTE_LEFT_OUT)
        for block in blocks[:_MAX_BLOCKS]:
            kept = {key: value for key, value in fields(block).items() if value is not None}
            if not _is_content(kept):
                self.note(NOTE_LEFT_OUT)
            elif too_deep(kept):
                self.note(NOTE_TOO_DEEP)
            else:
                if kept.get("text") == _NO_AUDIO:
                    self.note(NOTE_AUDIO)
                self.result["content"].append(kept)

    def object(self, key: str, value: object) -> None:
        """``structuredContent`` or ``_meta``, when it is an object."""
        if value is None:
            return
        if not isinstance(value, dict):
            self.note(NOTE_LEFT_OUT)
        elif too_deep(value):
            self.note(NOTE_TOO_DEEP)
        else:
            self.result[key] = value

    def built(self) -> RecordedResult:
        return RecordedResult(self.result, tuple(self.notes))


def _cut_text(result: Mapping[str, Any]) -> str | None:
    """The text that stands for a result which was too large for the log."""
    content = result.get("content")
    if set(result) != {"content"} or not isinstance(content, list) or len(content) != 1:
        return None
    text = text_of(fields(content[0]).get("text"))
    if not text.startswith(_CUT_BEGINNING) or not _CUT.search(text):
        return None
    return text if len(compact(text).encode("utf-8", "replace")) > _CUT_BYTES else None


def _cut(text: str) -> RecordedResult:
    """What is certain of a result that was cut: ``content``, where it ends before the cut."""
    head = _CUT.split(text, maxsplit=1)[0].removeprefix(_CUT_BEGINNING)
    try:
        _, end = json.JSONDecoder().raw_decode(head)
        content = loads(head[:end].encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return RecordedResult(None, (NOTE_CUT,))
    builder = _Builder()
    builder.note(NOTE_CUT)
    builder.content(content)
    return builder.built()


def _whole(result: Mapping[str, Any]) -> RecordedResult:
    cut = _cut_text(result)
    if cut is not None:
        return _cut(cut)
    builder = _Builder()
    builder.content(result.get("content"))
    builder.object("structuredContent", result.get("structuredContent"))
    builder.object("_meta", result.get("_meta"))
    if isinstance(result.get("isError"), bool):
        builder.result["isError"] = result["isError"]
    return builder.built()


def _failed(text: str, note: str) -> RecordedResult:
    return RecordedResult({"content": [{"type": "text", "text": text}], "isError": True}, (note,))


def _recorded(result: object, error: str) -> RecordedResult:
    if isinstance(result, dict):
        return _whole(result)
    return _failed(error, NOTE_ERROR) if error else RecordedResult(None, (NOTE_NOT_KEPT,))


def _parts(output: list[Any]) -> list[Any]:
    """MCP content from what the model was given as a list: a header, texts and images."""
    found: list[Any] = []
    for part in output:
        inner = fields(part)
        image = _DATA_URL.fullmatch(text_of(inner.get("image_url")))
        if inner.get("type") == "input_text":
            found.append({"type": "text", "text": inner.get("text")})
        elif inner.get("type") == "input_image" and image:
            found.append({"type": "image", "data": image["data"], "mimeType": image["media"]})
        else:
            found.append(part)
    if found and _HEADER.fullmatch(text_of(fields(found[0]).get("text"))):
        del found[0]
    return found


def _for_the_model(output: object) -> RecordedResult:
    """A result of which the rollout has no other record."""
    builder = _Builder()
    builder.note(NOTE_FOR_THE_MODEL)
    if isinstance(output, list):
        builder.content(_parts(output))
        return builder.built()
    text = text_of(output)
    if aborted(text):
        return RecordedResult(None, (NOTE_INTERRUPTED,))
    if refused(text):
        return _failed(text, NOTE_REFUSED)
    # A list is the content, an object is structuredContent: neither can pass for the other.
    body = _HEADER.sub("", text, count=1) if _HEADER.match(text) else text
    if call_error(text):
        said = fields(next(iter(_load_list(body) or ()), None)).get("text")
        return _failed(text_of(said) or body, NOTE_ERROR)
    structured = load_object(body)
    if structured is not None:
        builder.content([{"type": "text", "text": body}])
        builder.object("structuredContent", structured)
        return builder.built()
    content = _load_list(body)
    if content is None:
        return RecordedResult(None, (NOTE_NOT_KEPT,))
    builder.content(content)
    return builder.built()


def _load_list(text: str) -> list[Any] | None:
    if not text.startswith("["):
        return None
    try:
        value = loads(text.encode("utf-8", "replace"))
    except UnreadableLineError:
        return None
    return value if isinstance(value, list) else None


def result(line: Mapping[str, Any], tool_name: str) -> RecordedResult:
    """The ``CallToolResult`` that a line holds, of the tool ``tool_name``."""
    payload = fields(line.get("payload"))
    item = item_of(payload)
    if item.get("type") == "McpToolCall":
        return _recorded(item.get("result"), text_of(fields(item.get("error")).get("message")))
    if payload.get("type") == "mcp_tool_call_end":
        legacy = fields(payload.get("result"))
        return _recorded(legacy.get("Ok"), text_of(legacy.get("Err")))
    if tool_name.startswith(_MCP_PREFIX) and not item:
        return _for_the_model(payload.get("output"))
    text = read(line).text if item else output_text(payload.get("output"))
    return RecordedResult({"content": [{"type": "text", "text": text}]})
