"""Codex's rollouts, ``rollout-*.jsonl``: thorough for 0.150 to 0.171, as far as measured for
0.53 and newer.

Every line is ``{"timestamp", "type", "payload"}``, one entry at most.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePath
from typing import Any

from app.transcripts.formats import codex_index, codex_result, codex_servers, codex_text
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
from app.transcripts.formats.codex_names import joined, of_mcp
from app.transcripts.formats.codex_text import fields, item_of, text_of
from app.transcripts.formats.configured import ConfiguredServer
from app.transcripts.formats.lenient import load_line, loads

_TYPES = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
# A first line longer than the head that the caller read.
_LONG_FIRST_LINE = re.compile(
    rb'\{"timestamp":"[^"]{1,40}",(?:"ordinal":0,)?"type":"session_meta",'
)
_LINES_TRIED = 50
_FILE_NAME = re.compile(r"rollout-[0-9T-]{19}-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_THREAD_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")

NOTE_ARGUMENTS = "The arguments of this call could not be read from the transcript."


def _lines(head: bytes) -> Iterator[dict[str, Any]]:
    for line in head.split(b"\n")[:-1][:_LINES_TRIED]:
        try:
            value = loads(line)
        except UnreadableLineError:
            continue
        if isinstance(value, dict):
            yield value


def _parent(meta: Mapping[str, Any]) -> str:
    """The thread that started this one, "" when none did."""
    source = fields(fields(meta.get("source")).get("subagent"))
    spawned = fields(source.get("thread_spawn")).get("parent_thread_id")
    return text_of(meta.get("parent_thread_id")) or text_of(spawned)


class Codex:
    agent = "codex"

    def detect(self, path: PurePath, head: bytes) -> bool:
        """By content: the name says nothing (a copy may be called anything)."""
        if _LONG_FIRST_LINE.match(head):
            return True
        return any(
            line.get("type") in _TYPES
            and isinstance(line.get("payload"), dict)
            and isinstance(line.get("timestamp"), str)
            for line in _lines(head)
            if isinstance(line.get("type"), str)
        )

    def place(self, path: PurePath, head: bytes) -> Place:
        """By the thread's id: a sub-agent is a thread of its own, in a file of its own, that names
        the root of its threads. Where the root's file is, it does not say.
        """
        metas = (line for line in _lines(head) if line.get("type") == "session_meta")
        meta = fields(next(metas, {}).get("payload"))
        named = _FILE_NAME.fullmatch(path.stem)
        own = text_of(meta.get("id")) or (named[1] if named else path.stem)
        parent = _parent(meta)
        root = text_of(meta.get("session_id")) or parent
        if parent and root != own and _THREAD_ID.fullmatch(root) and _THREAD_ID.fullmatch(own):
            return Place(None, root, own)
        return Place(path, own)

    def around(self, path: PurePath) -> Around:
        return Around()

    def servers(
        self, path: PurePath, folder: str, session_id: str, called: Collection[str]
    ) -> list[ConfiguredServer]:
        return codex_servers.configured(path)

    def index(self, line: bytes) -> Indexed:
        return codex_index.index(line)

    def decode(self, line: bytes) -> Mapping[str, Any]:
        return load_line(line)

    def read(self, line: Mapping[str, Any], block: int) -> Body:
        return codex_text.read(line)

    def call(self, line: Mapping[str, Any], block: int) -> Call:
        payload = fields(line.get("payload"))
        arguments = codex_text.arguments(payload)
        if arguments is None:
            return Call(_name(payload), {}, (NOTE_ARGUMENTS,))
        return Call(_name(payload), arguments)

    def result(
        self, line: Mapping[str, Any], block: int, tool_name: str, beside: Beside = nothing_beside
    ) -> RecordedResult:
        return codex_result.result(line, tool_name)


def _name(payload: Mapping[str, Any]) -> str:
    item = item_of(payload)
    if item.get("type") == "WebSearch":
        return codex_index.WEB_SEARCH
    if item.get("type") == "CommandExecution":
        return codex_index.USER_SHELL
    called = item or fields(payload.get("invocation"))
    if called:
        return of_mcp(text_of(called.get("server")), text_of(called.get("tool")))
    fallback = text_of(payload.get("type")).removesuffix("_call")
    name = text_of(payload.get("name")) or fallback
    return joined(text_of(payload.get("namespace")), name)
