"""What a transcript format is: how one agent's file becomes entries, and how an entry is read back.

A format sees single lines, never a file, so that reading a window costs the window.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import PurePath
from typing import Any, Protocol

import msgspec

from app.db.tables import CallState
from app.transcripts.formats.configured import ConfiguredServer


class Kind(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    # What the model was given of a result, by an agent that may record the result itself too: it
    # counts as the result where there is no other, and is shown nowhere else.
    TOOL_OUTPUT = "tool_output"
    SYSTEM = "system"
    ERROR = "error"  # ends a turn: an API error, an interruption
    UNREADABLE = "unreadable"  # a line that could not be parsed


# msgspec.Struct and not a dataclass: one is made for every entry of an import.
class Item(msgspec.Struct, frozen=True, gc=False):
    """One entry to be. ``block`` is its place within its line, for :meth:`Format.read`.

    A result may come in several forms. The first one counts, but one that the agent made up gives
    way to any other, and a ``complete`` one wins over all before it.

    A result with a ``tool_name`` stands for its call too, where the transcript holds none: then
    it is the call's entry as well, and :meth:`Format.call` reads it.
    """

    kind: Kind
    block: int = 0
    tool_call_id: str | None = None  # on calls and results
    tool_name: str | None = None  # on calls, as recorded; on results, see above
    state: CallState | None = None  # on results
    synthetic: bool = False  # a result that the agent made up: any other result wins over it
    complete: bool = False  # a result that holds all that the agent recorded of it
    # On results, where the agent records them: the names before it joined and normalised them,
    # and the view that the tool had.
    server: str | None = None
    tool: str | None = None
    resource_uri: str | None = None
    agent_id: str | None = None  # on results: the sub-agent that the call started


class Attributed(msgspec.Struct, frozen=True, gc=False):
    """Names that an agent recorded apart from the call: of the calls before this line that it
    wrote as ``name``.
    """

    name: str
    server: str
    tool: str


class Indexed(msgspec.Struct, frozen=True, gc=False):
    """A line's entries, and the facts about its session that it carries ("" when it has none)."""

    items: tuple[Item, ...] = ()
    at: datetime | None = None  # UTC
    session_id: str = ""  # the agent's own
    folder: str = ""
    prompt: str = ""  # what a person typed: the first one is the session's title
    title: str = ""  # a title that the agent or a person gave; the last one wins
    attributed: Attributed | None = None
    # Where an agent's lines form a tree: this line and the one that it follows.
    uuid: str = ""
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file belongs: its session's main file, and which sub-agent wrote it. Where a
    sub-agent's file does not tell the main file, ``main_path`` is ``None`` and ``external_id``
    finds it.
    """

    main_path: PurePath | None
    external_id: str  # the session's, by which its agent knows it
    agent_id: str = ""  # "" for the main transcript


@dataclass(frozen=True, slots=True)
class Around:
    """What lies about a transcript's file: the folder of the files that its results name, and
    what says which call started the sub-agent that wrote it.
    """

    side_folder: PurePath | None = None
    started_by: PurePath | None = None


@dataclass(frozen=True, slots=True)
class Body:
    """An entry as read back. ``text`` is raw third-party text."""

    text: str
    label: str = ""  # of a system entry: what it is ("command output", "compact boundary")
    sidechain: bool = False  # a sub-agent's entry inside the main transcript


@dataclass(frozen=True, slots=True)
class Call:
    name: str  # as recorded
    arguments: dict[str, Any]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """``result`` has the shape of an MCP ``CallToolResult``: a list ``content`` of valid MCP
    blocks, and ``structuredContent``, ``_meta`` and ``isError`` only where they are known. It is
    ``None`` when the record does not hold the result. ``notes`` are sentences on what it lost.
    """

    result: dict[str, Any] | None
    notes: tuple[str, ...] = ()


RESULT_KINDS = frozenset({Kind.TOOL_RESULT, Kind.TOOL_OUTPUT})


# The bytes of a file that the agent wrote beside the transcript, by its name; ``None`` when it is
# not there.
Beside = Callable[[str], bytes | None]


def nothing_beside(_name: str) -> bytes | None:
    return None


class UnreadableLineError(ValueError):
    """A line is not a JSON object, or is nested too deeply to be handled."""


class TooDeepError(UnreadableLineError):
    """A line is nested too deeply to be handled."""


class NoObjectError(UnreadableLineError):
    """A line is JSON, but no object."""


class Format(Protocol):
    """No method raises on any bytes, but :meth:`decode`, which raises `UnreadableLineError`."""

    agent: str  # "claude-code"

    def detect(self, path: PurePath, head: bytes) -> bool:
        """Whether a file that begins with ``head`` is in this format."""

    def place(self, path: PurePath, head: bytes) -> Place: ...

    def around(self, path: PurePath) -> Around: ...

    def servers(
        self, path: PurePath, folder: str, session_id: str, called: Collection[str]
    ) -> list[ConfiguredServer]:
        """The servers that the agent's configuration names today, for the session whose main
        transcript is at ``path``. ``called`` are the names that its calls may be of.
        """

    def index(self, line: bytes) -> Indexed: ...

    def decode(self, line: bytes) -> Mapping[str, Any]:
        """The line for the methods below, so that several blocks of it cost one parse."""

    def read(self, line: Mapping[str, Any], block: int) -> Body: ...

    def call(self, line: Mapping[str, Any], block: int) -> Call: ...

    def result(
        self, line: Mapping[str, Any], block: int, tool_name: str, beside: Beside = nothing_beside
    ) -> RecordedResult: ...
