"""What Codex made of the names of servers and tools, over its versions.

Since 0.130 the result of a call holds the names themselves; this is for the calls of older
versions, and for those that have no result. A known server and a listed tool are written as each
version would have written them: nothing is guessed from a name that nothing known can give.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha1

from app.mcp import registry
from app.mcp.names import PREFIX, normalise, normalise_codex
from app.mcp.registry import KnownServer, Match

MAX_NAME = 64  # of what the model is given, in every version
_HASH = 12
_FLAT_HASH = 40  # 0.53 to 0.118: a whole SHA-1


def _hash(identity: str, length: int) -> str:
    return sha1(identity.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:length]


def _as_it_is(name: str) -> str:
    return name


# 0.115 and newer; 0.80 to 0.114 (dashes are kept); 0.53 (dots too).
_WRITINGS: tuple[Callable[[str], str], ...] = (normalise_codex, normalise, _as_it_is)


def _identities(server: str) -> tuple[str, ...]:
    """What a hash behind a server's name was made of."""
    return f"{server}\0{server}\0", f"{server}\0{PREFIX}{server}__\0"


def _server_spellings(server: str) -> Iterator[tuple[str, Callable[[str], str]]]:
    """How the server's part was written, and how the names of its tools were then."""
    for write in _WRITINGS:
        yield write(server), write
    # Another server of the same configuration would have been written alike.
    for identity in _identities(server):
        yield f"{normalise_codex(server)}_{_hash(identity, _HASH)}", normalise_codex


def _tool_spellings(server: str, tool: str, write: Callable[[str], str]) -> Iterator[str]:
    """How the tool's part was written: one that made the whole too long, or that another tool
    would have been written like, ends in a hash.
    """
    yield write(tool)
    prefix = f"{PREFIX}{write(server)}__"
    flat = _flat(server, tool, write)
    if flat.startswith(prefix):
        yield flat.removeprefix(prefix)
    for identity in _identities(server):
        suffix = "_" + _hash(f"{identity}\0{tool}\0{tool}", _HASH)
        yield write(tool) + suffix
        # The separators counted with the namespace, and did not.
        for namespace in (prefix, prefix.removesuffix("__")):
            kept = MAX_NAME - len(namespace) - len(suffix)
            if kept >= 0:
                yield write(tool)[:kept] + suffix


def _flat(server: str, tool: str, write: Callable[[str], str]) -> str:
    """0.53 to 0.118: the joined name, cut, with a SHA-1 of the whole behind it."""
    whole = f"{PREFIX}{server}__{tool}"
    head = write(whole)[: MAX_NAME - _FLAT_HASH]
    return head + _hash(whole, _FLAT_HASH)


def _meant(match: Match, spellings: Callable[[str], Iterable[str]]) -> Match:
    """``match``, of every tool that one of its ``spellings`` is the recorded one of."""

    def written(tool: str) -> str:
        found = list(spellings(tool))
        return match.tool if match.tool in found else found[0]

    return replace(match, written=written)


def _cut(recorded: str, known: KnownServer) -> Iterator[Match]:
    name = known.name
    for write in _WRITINGS:
        if recorded.startswith(write(f"{PREFIX}{name}__")[: MAX_NAME - _FLAT_HASH]):
            match = Match(name, known.server, recorded, claims=known.claims)
            yield _meant(match, lambda tool: [_flat(name, tool, one) for one in _WRITINGS])
            return


def _older(recorded: str, known: KnownServer) -> Iterator[Match]:
    for spelled, write in _server_spellings(known.name):
        prefix = f"{PREFIX}{spelled}__"
        tool = recorded.removeprefix(prefix)
        if recorded.startswith(prefix) and tool:
            match = Match(known.name, known.server, tool, claims=known.claims)
            yield _meant(match, partial(_tool_spellings, known.name, write=write))
            return
    if len(recorded) == MAX_NAME:
        yield from _cut(recorded, known)


def matches(recorded: str, known: Sequence[KnownServer]) -> list[Match]:
    """Every reading of a recorded name, as `registry.match` gives them for what 0.115 and newer
    write; where there is none, those of older versions, and of names with a hash.
    """
    found = registry.match(recorded, known, normalise_codex)
    if found:
        return [
            _meant(match, partial(_tool_spellings, match.name, write=normalise_codex))
            for match in found
        ]
    older = [match for one in known for match in _older(recorded, one)]
    return sorted(older, key=lambda match: (-len(match.name), match.name))
