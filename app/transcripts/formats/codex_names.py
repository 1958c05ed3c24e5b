"""The recorded names of the tools that Codex calls."""

_MCP_PREFIX = "mcp__"
_SEPARATOR = "__"


def joined(namespace: str | None, name: str | None) -> str:
    """The one name of a tool: what the model called, its namespace before it.

    An MCP tool is ``mcp__<server>__<tool>`` here, whatever the version: its namespace is written
    ``mcp__probe__`` up to 0.130 and ``mcp__probe`` from 0.142 on, and before 0.121 the model used
    the joined name itself. Server and tool are as Codex writes them for the model, with a hash
    behind those that would be written alike, so that within one configuration one name means one
    tool. The names themselves stand in the result, and the call's row has both.

    Tools of other namespaces have a dot (``multi_agent_v1.spawn_agent``): none of them can pass
    for an MCP tool.
    """
    name = name or ""
    if not namespace:
        return name
    if not namespace.startswith(_MCP_PREFIX):
        return f"{namespace}.{name}"
    return f"{namespace.removesuffix(_SEPARATOR)}{_SEPARATOR}{name}"


def of_mcp(server: str | None, tool: str | None) -> str:
    """The name of an MCP tool whose call the transcript does not hold."""
    return f"{_MCP_PREFIX}{server or ''}{_SEPARATOR}{tool or ''}"
