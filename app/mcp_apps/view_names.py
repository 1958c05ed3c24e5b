"""Under which recorded names calls of tools with a view are to be found, over all sessions."""

from sqlmodel import Session

from app.mcp import copies, registry
from app.mcp.hub import Hub
from app.mcp.names import PREFIX, normalise, normalise_codex


def view_names(db: Session, hub: Hub) -> frozenset[str]:
    """As every agent writes them. By what is known of each server's tools without asking it:
    Claude Code does not record which of its calls had a view.
    """
    names: set[str] = set()
    for known in registry.known_servers(db):
        if known.server.transport == registry.STDIO:
            continue
        target = hub.wallet.target(known.server, known.claims)
        index = hub.peek_tools(target)
        if index is None and (copy := copies.load_tools(db, target.key)) is not None:
            index = copy.index
        for tool in index.tools.values() if index else ():
            if tool.resource_uri:
                for write in (normalise, normalise_codex):
                    names.add(f"{PREFIX}{write(known.name)}__{write(tool.name)}")
    return frozenset(names)


def written(server: str) -> frozenset[str]:
    """A server's name, as it is and as agents write it; empty without one."""
    if not server:
        return frozenset()
    return frozenset({server, normalise(server), normalise_codex(server)})
