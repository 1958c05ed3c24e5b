"""A server's tools as a host needs them: parsed one by one, so that a bad one spoils no other.

Everything in a listing is third-party text. Where a declaration is malformed, the reading that
gives a view less is taken.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from mcp.shared.inbound import find_invalid_x_mcp_header

from app.mcp.names import normalise
from app.text import one_line

UI_SCHEME = "ui://"
MAX_URI = 2_048
MAX_NAME = 1_024
MAX_PROBLEMS = 50


@dataclass(frozen=True)
class Tool:
    """One tool of a server.

    ``raw`` is the tool as it came. ``resource_uri`` is the view's, always ``ui://…``, or None
    for a tool without one. ``visibility`` is None when the tool declares none, which is not the
    same as the empty set: that one lets nobody call it.
    """

    name: str
    raw: dict[str, Any] = field(repr=False)
    resource_uri: str | None = None
    visibility: frozenset[str] | None = None


@dataclass(frozen=True)
class ToolIndex:
    """A whole ``tools/list``: the readable tools by name, and sentences on the rest."""

    tools: Mapping[str, Tool] = field(default_factory=lambda: MappingProxyType({}))
    problems: tuple[str, ...] = ()

    @property
    def has_views(self) -> bool:
        return any(tool.resource_uri for tool in self.tools.values())


def parse_tools(raw_tools: Iterable[Any], *, modern: bool = False) -> ToolIndex:
    """The index of a listing's ``tools``.

    ``modern`` is true for protocol 2026-07-28, which tells a client to drop a tool whose
    ``x-mcp-header`` annotations are invalid.
    """
    tools: dict[str, Tool] = {}
    problems: list[str] = []
    for number, raw in enumerate(raw_tools, start=1):
        tool = _parse_tool(raw, number, problems, modern=modern)
        if tool is None:
            continue
        if tool.name in tools:
            problems.append(f"{_quoted(tool.name)} is listed twice; the first one counts.")
            continue
        tools[tool.name] = tool
    if len(problems) > MAX_PROBLEMS:
        more = len(problems) - MAX_PROBLEMS
        problems = [*problems[:MAX_PROBLEMS], f"… and {more} more."]
    return ToolIndex(MappingProxyType(tools), tuple(problems))


def resolve_tool(
    index: ToolIndex, tool_norm: str, written: Callable[[str], str] = normalise
) -> Tool | None:
    """The tool that a recorded name means: the exact name, else the only one that ``written``
    turns into it. None when there is none, and when two do: a guess could call the wrong one.
    """
    exact = index.tools.get(tool_norm)
    if exact is not None:
        return exact
    alike = [tool for tool in index.tools.values() if written(tool.name) == tool_norm]
    return alike[0] if len(alike) == 1 else None


def is_view_address(uri: str) -> bool:
    """Whether ``uri`` can be a view's: ``ui://…``, not too long, nothing hidden in it."""
    return uri.startswith(UI_SCHEME) and len(uri) <= MAX_URI and uri.isprintable()


def _quoted(name: str) -> str:
    return f"“{one_line(name, 80)}”"


def _parse_tool(raw: Any, number: int, problems: list[str], *, modern: bool) -> Tool | None:
    if not isinstance(raw, dict):
        problems.append(f"Entry {number} of the tool list is not an object.")
        return None
    name = raw.get("name")
    if not isinstance(name, str) or not name or len(name) > MAX_NAME:
        problems.append(f"Entry {number} of the tool list has no usable name.")
        return None
    if modern and _bad_headers(raw.get("inputSchema")):
        problems.append(f"{_quoted(name)} has an invalid x-mcp-header and is left out.")
        return None
    return Tool(
        name=name,
        raw=raw,
        resource_uri=_resource_uri(raw.get("_meta"), name, problems),
        visibility=_visibility(raw.get("_meta"), name, problems),
    )


def _bad_headers(schema: Any) -> bool:
    try:
        return find_invalid_x_mcp_header(schema) is not None
    except (RecursionError, TypeError, ValueError):
        return True


def _ui(meta: Any) -> Any:
    return meta.get("ui") if isinstance(meta, dict) else None


def _resource_uri(meta: Any, name: str, problems: list[str]) -> str | None:
    if not isinstance(meta, dict):
        return None
    ui = _ui(meta)
    uri = ui.get("resourceUri") if isinstance(ui, dict) else None
    if uri is None:
        uri = meta.get("ui/resourceUri")  # the flat key of early servers
    if uri is None:
        return None
    if not isinstance(uri, str) or not is_view_address(uri):
        problems.append(f"{_quoted(name)} declares a view that is not a ui:// address.")
        return None
    return uri


def _visibility(meta: Any, name: str, problems: list[str]) -> frozenset[str] | None:
    if meta is None:
        return None
    ui = _ui(meta)
    if isinstance(meta, dict) and ui is None:
        return None
    if isinstance(ui, dict) and "visibility" not in ui:
        return None
    declared = ui.get("visibility") if isinstance(ui, dict) else None
    if isinstance(declared, list) and all(isinstance(who, str) for who in declared):
        return frozenset(declared)
    problems.append(f"{_quoted(name)} has an unreadable visibility; nobody may call it here.")
    return frozenset()
