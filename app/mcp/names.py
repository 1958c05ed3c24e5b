"""Names as agents record them: ``mcp__server__tool``, normalised."""

import re
from collections.abc import Callable

PREFIX = "mcp__"
CODEX = "codex"  # the agent
_NOT_KEPT = re.compile(r"[^A-Za-z0-9_-]")
_NOT_KEPT_BY_CODEX = re.compile(r"[^A-Za-z0-9_]")


def normalise(name: str) -> str:
    """``name`` as Claude Code writes it: each character outside ``[A-Za-z0-9_-]`` is ``_``.

    Source: measured with Claude Code 2.1; there is no length limit and no hash.
    """
    return _NOT_KEPT.sub("_", name)


def normalise_codex(name: str) -> str:
    """``name`` as Codex writes it: a dash is ``_`` too.

    Source: measured with Codex 0.115 to 0.171. What is too long, or would be written like
    another name, gets a hash behind it: `app.mcp.codex_names`.
    """
    return _NOT_KEPT_BY_CODEX.sub("_", name)


def writing(agent: str) -> Callable[[str], str]:
    """How the agent ``"codex"``, ``"claude-code"``, … writes a name."""
    return normalise_codex if agent == CODEX else normalise
