"""The server-side forwarder of a view's ``tools/call`` and ``resources/read``, and of no more.

Listings are answered from Vitrine's own cached ones. The specification makes the host the guard:
servers do not enforce visibility themselves.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from app.mcp.errors import McpError, ServerRejected, UnsendableRequest
from app.mcp.hub import Hub
from app.mcp.tool_index import Tool
from app.mcp_apps.grants import Calls
from app.mcp_apps.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from app.mcp_apps.resolve import PanelCall

MAX_URI_CHARACTERS: Final = 2048
MAX_NAME_CHARACTERS: Final = 1024

Admit = Callable[[Tool, Mapping[str, Any]], Awaitable[None]]
OnProgress = Callable[[float, float | None, str | None], None]


async def forward(
    hub: Hub,
    panel: PanelCall,
    method: object,
    params: object,
    on_progress: OnProgress | None = None,
    *,
    admit: Admit,
) -> dict[str, Any]:
    """The server's result, whole and as it came. Raises ``RpcError`` for everything else.

    ``admit`` returns when a call of a tool that the view sees may go out, and raises ``RpcError``
    when it may not. ``on_progress`` (done, total, message) is called while a tool runs whose
    caller gave a progress token.
    """
    try:
        match method:
            case "tools/call":
                name, arguments = _call_params(params)
                await admit(_visible_tool(panel, name), arguments)
                told = on_progress if _wants_progress(params) else None
                return await hub.call_tool(panel.target, name, arguments, on_progress=told)
            case "resources/read":
                return await hub.read_resource(panel.target, _uri(params))
            case "tools/list":
                _check_first_page(params)
                return {"tools": _visible_tools(panel)}
            case "resources/list":
                _check_first_page(params)
                return {"resources": await hub.list_resources(panel.target)}
            case "resources/templates/list":
                _check_first_page(params)
                return {"resourceTemplates": await hub.list_resource_templates(panel.target)}
    except ServerRejected as error:
        raise RpcError(error.code, error.message, error.data) from error
    except UnsendableRequest as error:
        raise RpcError(INVALID_PARAMS, error.sentence) from error
    except McpError as error:
        raise RpcError(INTERNAL_ERROR, error.for_view, {"reason": error.reason}) from error
    raise RpcError(METHOD_NOT_FOUND, "Method not found")


def _is_visible(panel: PanelCall, tool: Tool) -> bool:
    """Marked for apps, or marked for nobody where the operator follows the specification, which
    takes that for everybody.
    """
    if tool.visibility is None:
        return panel.server.unmarked_tools
    return "app" in tool.visibility


def _visible_tools(panel: PanelCall) -> list[dict[str, Any]]:
    """The definitions, as they came, of the tools that the view may call."""
    if panel.server.calls == Calls.NONE:
        return []
    return [dict(tool.raw) for tool in panel.index.tools.values() if _is_visible(panel, tool)]


def _visible_tool(panel: PanelCall, name: str) -> Tool:
    """Only a visible tool of the view's own server. Unknown, another server's and not visible
    read alike, so that a view cannot probe for names.
    """
    tool = panel.index.tools.get(name)
    if tool is None or not _is_visible(panel, tool):
        raise RpcError(INVALID_PARAMS, f"Unknown tool: {name}")
    return tool


def _check_first_page(params: object) -> None:
    """A whole listing is one page here, and no cursor was ever given out."""
    if params is not None and not isinstance(params, Mapping):
        raise RpcError(INVALID_PARAMS, "params must be an object")
    if params and params.get("cursor") not in (None, ""):
        raise RpcError(INVALID_PARAMS, "Unknown cursor")


def _wants_progress(params: object) -> bool:
    """Whether the view gave a progress token. The server gets one of Vitrine's own instead."""
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    token = meta.get("progressToken") if isinstance(meta, Mapping) else None
    return isinstance(token, str | int) and not isinstance(token, bool)


def _call_params(params: object) -> tuple[str, dict[str, Any]]:
    if not isinstance(params, Mapping):
        raise RpcError(INVALID_PARAMS, "params must be an object")
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME_CHARACTERS:
        raise RpcError(INVALID_PARAMS, "params.name must be the tool's name")
    if arguments is not None and not isinstance(arguments, Mapping):
        raise RpcError(INVALID_PARAMS, "params.arguments must be an object")
    return name, dict(arguments or {})


def _uri(params: object) -> str:
    uri = params.get("uri") if isinstance(params, Mapping) else None
    if not isinstance(uri, str) or not 0 < len(uri) <= MAX_URI_CHARACTERS:
        raise RpcError(
            INVALID_PARAMS, f"params.uri must be a text of at most {MAX_URI_CHARACTERS} characters"
        )
    return uri
