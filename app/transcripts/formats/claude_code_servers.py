"""The MCP servers of a Claude Code session, from outside of its transcript: the project's and the
user's configuration, and the log of its connections, which alone knows ``--mcp-config``.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePath
from typing import Any

from app.transcripts import disk
from app.transcripts.formats.base import UnreadableLineError
from app.transcripts.formats.configured import (
    ConfiguredServer,
    Origin,
    kept_headers,
    named,
    transport_of,
    usable_url,
)
from app.transcripts.formats.lenient import loads

_PROJECTS = "projects"
_NOT_KEPT = re.compile(r"[^A-Za-z0-9]")
_SLUG_LENGTH = 200  # longer ones are cut and get a hash
_CONFIG_BYTES = 16 * 1024 * 1024  # the user's file holds their history too
_LOG = "mcp-logs-"
_LOGS = (
    PurePath(".cache", "claude-cli-nodejs"),
    PurePath("Library", "Caches", "claude-cli-nodejs"),
)
_LOG_FOLDERS = 100
_LOG_FILES = 50  # of one server: the newest
_LOG_HEAD = 64 * 1024
_OPTIONS = re.compile(r"(?P<kind>HTTP|SSE) transport options: (?P<json>\{.*\})", re.DOTALL)
_OWN_HEADERS = frozenset({"user-agent", "accept-encoding"})


def _slug(text: str) -> str:
    return _NOT_KEPT.sub("-", text)


def _json(path: PurePath) -> Mapping[str, Any]:
    data = disk.read(path, _CONFIG_BYTES)
    try:
        value = loads(data) if data is not None else None
    except UnreadableLineError:
        return {}
    return value if isinstance(value, dict) else {}


def _of_table(table: object, origin: Origin) -> Iterator[ConfiguredServer]:
    for name, entry in named(table):
        url = usable_url(entry.get("url"))
        yield ConfiguredServer(
            name, url, transport_of(entry), origin, kept_headers(entry.get("headers"))
        )


def _of_logs(
    home: PurePath, slug: str, session_id: str, called: Collection[str]
) -> Iterator[ConfiguredServer]:
    names = {_slug(name): name for name in sorted(called)}
    for logs in _LOGS:
        root = home / logs / slug
        for folder in disk.names(root, _LOG_FOLDERS):
            name = names.get(folder.removeprefix(_LOG))
            if folder.startswith(_LOG) and name is not None:
                server = _of_log(root / folder, name, session_id)
                if server is not None:
                    yield server


def _of_log(folder: PurePath, name: str, session_id: str) -> ConfiguredServer | None:
    for file in reversed(disk.names(folder, _LOG_FILES)):
        head = disk.read_head(folder / file, _LOG_HEAD) or b""
        for line in _log_lines(head):
            said = line.get("debug")
            if line.get("sessionId") != session_id or not isinstance(said, str):
                continue
            found = _OPTIONS.fullmatch(said)
            if found is None:
                continue
            server = _logged(name, found)
            if server is not None:
                return server
    return None


def _log_lines(head: bytes) -> Iterator[Mapping[str, Any]]:
    """A line is an object; in 2.0.0 the file is a list of them."""
    try:
        whole = loads(head) if head.lstrip().startswith(b"[") else None
    except UnreadableLineError:
        return
    if isinstance(whole, list):
        yield from (line for line in whole if isinstance(line, dict))
        return
    for text in head.split(b"\n"):
        try:
            line = loads(text) if text.strip() else None
        except UnreadableLineError:
            continue
        if isinstance(line, dict):
            yield line


def _logged(name: str, options: re.Match[str]) -> ConfiguredServer | None:
    try:
        value = loads(options["json"].encode("utf-8", "replace"))
    except UnreadableLineError:
        return None
    url = usable_url(value.get("url")) if isinstance(value, dict) else ""
    if not url:
        return None
    # The log has expanded values: only the names of headers are taken from it.
    headers = {
        header: ""
        for header in kept_headers(value.get("headers"))
        if header.lower() not in _OWN_HEADERS
    }
    transport = "sse" if options["kind"] == "SSE" else "streamable-http"
    return ConfiguredServer(name, url, transport, Origin.LOG, headers)


def configured(
    path: PurePath, folder: str, session_id: str, called: Collection[str]
) -> list[ConfiguredServer]:
    """The servers of the session whose main transcript lies at ``path``, each name once: what the
    agent takes where several places have it. ``called`` are names that calls may be of.

    Only for a transcript in the agent's own folder for ``folder``: what a copied file says of its
    folder is no reason to read there.
    """
    if path.parent.parent.name != _PROJECTS or not folder.startswith("/"):
        return []
    slug = path.parent.name
    if _slug(folder)[:_SLUG_LENGTH] != slug[:_SLUG_LENGTH]:
        return []
    agent = path.parent.parent.parent
    own = _json(agent / ".claude.json") or _json(agent.parent / ".claude.json")
    projects = own.get("projects")
    project = projects.get(folder) if isinstance(projects, dict) else None
    local = project.get("mcpServers") if isinstance(project, dict) else None
    found: dict[str, ConfiguredServer] = {}
    for server in (
        *_of_table(own.get("mcpServers"), Origin.USER),
        *_of_table(_json(PurePath(folder, ".mcp.json")).get("mcpServers"), Origin.PROJECT),
        *_of_table(local, Origin.LOCAL),
    ):
        found[server.name] = server
    # Names that are configured come first: a log has only what became of a name.
    candidates = {*called, *found}
    for server in _of_logs(agent.parent, slug, session_id, candidates):
        known = found.get(server.name)
        headers = known.headers if known else server.headers
        found[server.name] = ConfiguredServer(
            server.name, server.url, server.transport, Origin.LOG, headers
        )
    return list(found.values())
