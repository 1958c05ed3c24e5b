"""Claude Code's own JSONL, versions 2.0.0 to 2.1.332."""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePath
from typing import Any

from app.transcripts.formats import (
    claude_code_index,
    claude_code_result,
    claude_code_servers,
    claude_code_text,
)
from app.transcripts.formats.base import (
    Around,
    Beside,
    Body,
    Call,
    Indexed,
    Place,
    RecordedResult,
    UnreadableLineError,
    nothing_beside,
)
from app.transcripts.formats.claude_code_line import Line
from app.transcripts.formats.claude_code_line import decode as decode_line
from app.transcripts.formats.configured import ConfiguredServer
from app.transcripts.formats.lenient import load_line, too_deep

_TREE_TYPES = frozenset({"user", "assistant", "system", "attachment", "progress"})
# State lines that a file may begin with. The agent's MCP logs have a sessionId too, but no type.
_STATE_TYPES = frozenset(
    {
        "agent-name",
        "api-request",
        "atis-latch",
        "cost-state",
        "custom-title",
        "file-history-delta",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "queue-operation",
        "summary",
        "tools-used",
    }
)
# The beginning of a line that is longer than the head that the caller read. The second kind is
# the agent's only where nothing stands before it: its output on a terminal has such lines too.
_LONG_LINE = re.compile(
    rb'\{"(?:parentUuid":|isSidechain":|type":"(?:'
    + "|".join(sorted(_STATE_TYPES)).encode()
    + rb')",)'
)
_LONG_FIRST_LINE = re.compile(rb'\{"type":"(?:user|assistant)","message":\{')
_LINES_TRIED = 50
_AGENT_FILE = re.compile(r"agent-([A-Za-z0-9_-]{1,100})\.jsonl")
# The sessionId names the main transcript's file: nothing that could leave the folder.
_SESSION_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SUBAGENTS = "subagents"
_SIDE_FILES = "tool-results"

NOTE_ARGUMENTS = "The arguments of this call could not be read from the transcript."


def _lines(head: bytes) -> Iterator[Line]:
    for line in head.split(b"\n")[:-1][:_LINES_TRIED]:
        if not line.strip():
            continue
        try:
            yield decode_line(line)
        except UnreadableLineError:
            continue


class ClaudeCode:
    agent = "claude-code"

    def detect(self, path: PurePath, head: bytes) -> bool:
        """By content: the name says nothing (``*.jsonl`` is everybody's)."""
        for line in _lines(head):
            if line.type in _TREE_TYPES and line.session_id:
                return True
            if line.type in _STATE_TYPES:
                return True
        whole, _, torn = head.rpartition(b"\n")
        if _LONG_LINE.match(torn):
            return True
        return not whole and _LONG_FIRST_LINE.match(torn) is not None

    def place(self, path: PurePath, head: bytes) -> Place:
        """By the path, and for a sub-agent's file beside the main one (2.0.72) by its sessionId."""
        recorded = next((line.session_id for line in _lines(head) if line.session_id), "")
        name = _AGENT_FILE.fullmatch(path.name)
        if name and _SUBAGENTS in path.parent.parts:
            folder = path.parent
            while folder.name != _SUBAGENTS:
                folder = folder.parent
            folder = folder.parent
            if folder.name:
                return Place(folder.with_name(f"{folder.name}.jsonl"), folder.name, name[1])
        if name and _SESSION_ID.fullmatch(recorded):
            return Place(path.with_name(f"{recorded}.jsonl"), recorded, name[1])
        own = path.stem
        return Place(path, own if _UUID.fullmatch(own) or not recorded else recorded)

    def around(self, path: PurePath) -> Around:
        if _AGENT_FILE.fullmatch(path.name):
            meta = path.with_name(f"{path.stem}.meta.json")
            parts = path.parts
            if _SUBAGENTS in path.parent.parts:
                at = len(parts) - 1 - parts[::-1].index(_SUBAGENTS)
                return Around(PurePath(*parts[:at], _SIDE_FILES), meta)
            return Around(None, meta)
        return Around(path.with_name(path.stem) / _SIDE_FILES)

    def servers(
        self, path: PurePath, folder: str, session_id: str, called: Collection[str]
    ) -> list[ConfiguredServer]:
        return claude_code_servers.configured(path, folder, session_id, called)

    def index(self, line: bytes) -> Indexed:
        return claude_code_index.index(line)

    def decode(self, line: bytes) -> Mapping[str, Any]:
        return load_line(line)

    def read(self, line: Mapping[str, Any], block: int) -> Body:
        return claude_code_text.read(line, block)

    def call(self, line: Mapping[str, Any], block: int) -> Call:
        found = claude_code_text.block_at(line, block)
        name = found.get("name")
        arguments = found.get("input")
        shown = name if isinstance(name, str) else ""
        if not isinstance(arguments, dict) or too_deep(arguments):
            return Call(shown, {}, (NOTE_ARGUMENTS,))
        return Call(shown, arguments)

    def result(
        self, line: Mapping[str, Any], block: int, tool_name: str, beside: Beside = nothing_beside
    ) -> RecordedResult:
        found = claude_code_text.block_at(line, block)
        return claude_code_result.result(line, found, tool_name, beside)
