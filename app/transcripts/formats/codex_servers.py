"""The MCP servers of a Codex thread: those of the configuration in its home folder."""

import tomllib
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from app.transcripts import disk
from app.transcripts.formats.configured import (
    ConfiguredServer,
    Origin,
    kept_headers,
    named,
    reference,
    transport_of,
    usable_url,
)

_FOLDERS = frozenset({"sessions", "archived_sessions"})
_CONFIG_BYTES = 1024 * 1024


def _headers(entry: Mapping[str, Any]) -> dict[str, str]:
    headers = kept_headers(entry.get("http_headers"))
    from_variables = entry.get("env_http_headers")
    for name, variable in from_variables.items() if isinstance(from_variables, dict) else ():
        if isinstance(variable, str):
            headers |= kept_headers({name: reference(variable)})
    bearer = entry.get("bearer_token_env_var")
    if isinstance(bearer, str):
        headers |= kept_headers({"Authorization": reference(bearer, "Bearer ")})
    return headers


def configured(path: PurePath) -> list[ConfiguredServer]:
    """Of the home folder that the rollout at ``path`` lies in."""
    home = next((one.parent for one in path.parents if one.name in _FOLDERS), None)
    data = disk.read(home / "config.toml", _CONFIG_BYTES) if home is not None else None
    try:
        config = tomllib.loads((data or b"").decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return []
    return [
        ConfiguredServer(
            name,
            usable_url(entry.get("url")),
            transport_of(entry),
            Origin.USER,
            _headers(entry),
        )
        for name, entry in named(config.get("mcp_servers"))
    ]
