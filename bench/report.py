"""The table: what was measured of Vitrine, beside its peers and the bars that it is held to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from bench.peers import AGENTSVIEW, CLAUDE_CODE_LOG

_PEERS: Final = (AGENTSVIEW, CLAUDE_CODE_LOG)


@dataclass(frozen=True, slots=True)
class Bar:
    """What a figure may be at most: ``limit``, or that part of what a peer needs."""

    text: str
    limit: float
    of_peer: str | None = None

    def is_met(self, ours: float, peers: Mapping[str, float]) -> bool | None:
        if self.of_peer is None:
            return ours <= self.limit
        return ours <= self.limit * peers[self.of_peer] if self.of_peer in peers else None


# The bars of the design.
THIRD: Final = Bar(f"≤ 1/3 of {AGENTSVIEW}", 1 / 3, AGENTSVIEW)
QUARTER: Final = Bar(f"≤ 1/4 of {AGENTSVIEW}", 1 / 4, AGENTSVIEW)
NO_SLOWER: Final = Bar(f"≤ {AGENTSVIEW}", 1, AGENTSVIEW)
MEMORY: Final = Bar("≤ 120 MB", 120)
CONTENTS: Final = Bar("≤ 25 %", 25)
EVERYTHING: Final = Bar("≤ 45 %", 45)
SAME: Final = Bar("≤ 1.2 x", 1.2)
SOON: Final = Bar("≤ 200 ms", 200)


@dataclass(frozen=True, slots=True)
class Line:
    """One figure. A peer's is followed by ours as a part of it."""

    name: str
    ours: float
    peers: Mapping[str, float] = field(default_factory=dict)
    bar: Bar | None = None

    def _peer(self, name: str) -> str:
        if name not in self.peers:
            return ""
        peer = self.peers[name]
        return f"{peer:,.1f} ({self.ours / peer:.2f} x)" if peer else f"{peer:,.1f}"

    def cells(self) -> tuple[str, ...]:
        verdict = ""
        if self.bar is not None:
            met = self.bar.is_met(self.ours, self.peers)
            verdict = {True: "met", False: "NOT met", None: "not compared"}[met]
            verdict = f"  {self.bar.text}: {verdict}"
        return (self.name, f"{self.ours:,.1f}", *map(self._peer, _PEERS), verdict)


class Report:
    """Lines of transcripts of several lengths, printed as they come."""

    def __init__(self) -> None:
        self._first: dict[str, float] = {}

    def heading(self, text: str) -> None:
        print()
        self._row((text, "Vitrine", *(f"{peer} (ours is)" for peer in _PEERS), "  bar"))

    def line(
        self,
        name: str,
        ours: float,
        peers: Mapping[str, float] | None = None,
        bar: Bar | None = None,
    ) -> None:
        self._row(Line(name, ours, peers or {}, bar).cells())

    def same_at_any_length(self, name: str, ours: float) -> None:
        """``ours`` beside that of the first transcript, which is the shortest."""
        if name in self._first:
            self._row(
                Line(f"{name}, of the shortest's", ours / self._first[name], {}, SAME).cells()
            )
        self._first.setdefault(name, ours)

    def _row(self, cells: tuple[str, ...]) -> None:
        name, ours, agentsview, claude_code_log, bar = cells
        line = f"{name:42}{ours:>10}{agentsview:>24}{claude_code_log:>28}{bar}"
        print(line.rstrip(), flush=True)
