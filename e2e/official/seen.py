"""What the tests saw of each official server's view, and the page of the documentation that says
so: docs/compatibility.md is this, word for word.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from e2e.official.catalog import AGENTS, NAMES, OFFICIAL, Official

PAGE = Path(__file__).resolve().parents[2] / "docs" / "compatibility.md"
ALL, STARTED = "everything", "starts, one press"

_HEAD = """# Official MCP Apps servers

What Vitrine's own tests see, in Chromium, of the example servers that the MCP Apps project has on
npm. Each is started for real, and its call is read from a session file of each agent, in the format
of Claude Code 2.1.332 and Codex 0.171. What the servers and views fetch from elsewhere is answered
by a stand-in. `make compatibility` writes this page anew; the tests fail where it differs from what
they see.

Every server is set to let views use its unmarked tools (Settings, Servers), which most of these
views need. "Everything" means what the row lists; under the other agent the view is seen to start
and to take one press.
"""
_COLUMNS = (
    "Server",
    "Version",
    *NAMES.values(),
    "What was done",
    "What its view asked its server for",
)


@dataclass
class Seen:
    """Filled by the tests. ``how`` is by (server, agent)."""

    how: dict[tuple[str, str], str] = field(default_factory=dict)
    done: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    asked: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    not_granted: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def missing(self) -> list[str]:
        """What no test has looked at, as ``server with agent``."""
        return [
            f"{name} with {agent}"
            for name in OFFICIAL
            for agent in AGENTS
            if (name, agent) not in self.how
        ]

    def did(self, name: str, *what: str) -> None:
        self.done[name] += [text for text in what if text not in self.done[name]]

    def page(self) -> str:
        lines = [_HEAD, _row(_COLUMNS), _row("---" for _ in _COLUMNS)]
        lines += [self._line(official) for official in OFFICIAL.values()]
        lines += ["", "## What is not granted, and what the panel says", ""]
        for name, sentences in sorted(self.not_granted.items()):
            lines.append(f"- **{name}**")
            lines += [f"  - {sentence}" for sentence in sentences]
        return "\n".join(lines) + "\n"

    def _line(self, official: Official) -> str:
        name = official.name
        return _row(
            (
                name,
                official.version,
                *(self.how.get((name, agent), "") for agent in AGENTS),
                "; ".join(self.done[name]),
                ", ".join(f"`{asked}`" for asked in sorted(self.asked[name])) or "nothing",
            )
        )


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
