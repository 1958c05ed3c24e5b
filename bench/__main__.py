"""``python -m bench``: Vitrine and two other programs on the same made-up transcripts, in one run.

What else the machine does moves all figures: read the ratios, and the CPU times. The other programs
come from the package registry, once, into a virtual environment outside the checkout.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from bench import live, peers, vitrine
from bench.measure import MB, Asked, Cost
from bench.peers import AGENTSVIEW, CLAUDE_CODE_LOG, AgentsView
from bench.report import (
    CONTENTS,
    EVERYTHING,
    MEMORY,
    NO_SLOWER,
    QUARTER,
    SOON,
    THIRD,
    Bar,
    Report,
)
from bench.requests import OPERATORS, PLACES, WORDS
from bench.transcript import write

_STEPS: Final = ("ingest", "window", "search", "live")
_ENTRIES: Final = (1_000, 10_000, 100_000)
# Of a shorter transcript, starting the program is most of the work.
_HELD_FROM: Final = 100_000


def _held(bar: Bar, entries: int) -> Bar | None:
    return bar if entries >= _HELD_FROM else None


def _note(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


class _Bench:
    """All that is measured of one transcript."""

    def __init__(self, given: argparse.Namespace, programs: Path | None, report: Report) -> None:
        self._steps: tuple[str, ...] = tuple(given.only)
        self._log_to: int = given.claude_code_log_to
        self._programs = programs
        self._report = report

    def run(self, entries: int, folder: Path) -> None:
        _note(f"writing {entries:,} entries")
        transcript = write(entries, folder / "claude" / "projects" / "-home-dev-project")
        size = transcript.stat().st_size
        self._report.heading(f"{entries:,} entries, {size / MB:,.1f} MB")
        other = AgentsView(self._programs, folder / "agentsview") if self._programs else None
        data = folder / "data"
        self._ingest(entries, transcript, folder, data, other)
        if {"window", "search"} & set(self._steps):
            self._served(entries, folder, data, other)
        if "live" in self._steps:
            _note("live")
            delay = live.delay(transcript, data)
            self._report.line("append → row in the browser, p50 ms", delay.p50)
            self._report.line("append → row in the browser, p95 ms", delay.p95, bar=SOON)

    def _ingest(
        self, entries: int, transcript: Path, folder: Path, data: Path, other: AgentsView | None
    ) -> None:
        """The other steps need what this one stores."""
        size = transcript.stat().st_size
        costs: dict[str, Cost] = {}
        stored: dict[str, float] = {}
        _note("ingest: Vitrine")
        ours = vitrine.ingest(transcript, data)
        contents, everything = vitrine.stored(data)
        if other:
            _note(f"ingest: {AGENTSVIEW}")
            costs[AGENTSVIEW], stored[AGENTSVIEW] = other.ingest(transcript)
        if self._programs and "ingest" in self._steps and entries <= self._log_to:
            _note(f"ingest: {CLAUDE_CODE_LOG}")
            costs[CLAUDE_CODE_LOG], stored[CLAUDE_CODE_LOG] = peers.claude_code_log(
                self._programs, folder / "claude-code-log", transcript
            )
        if "ingest" not in self._steps:
            return
        line, third = self._report.line, _held(THIRD, entries)
        line("ingest, s", ours.wall, {name: cost.wall for name, cost in costs.items()}, third)
        line("ingest, CPU s", ours.cpu, {name: cost.cpu for name, cost in costs.items()}, third)
        peaks = {name: cost.peak for name, cost in costs.items()}
        line("ingest, peak MB", ours.peak, peaks, MEMORY)
        line("contents stored, % of the source", contents / size * 100, bar=CONTENTS)
        shares = {name: part / size * 100 for name, part in stored.items()}
        line(
            "everything stored, % of the source",
            everything / size * 100,
            shares,
            _held(EVERYTHING, entries),
        )

    def _served(self, entries: int, folder: Path, data: Path, other: AgentsView | None) -> None:
        vitrine.add_warm_session(folder, data)
        _note("windows and search: Vitrine")
        found, peak = vitrine.serve(data, entries)
        theirs: dict[str, Asked] = {}
        their_peak: dict[str, float] = {}
        if other:
            _note(f"windows and search: {AGENTSVIEW}")
            theirs, their_peak[AGENTSVIEW] = other.serve(entries)
        if "window" in self._steps:
            self._windows(found, theirs)
        if "search" in self._steps:
            self._searches(found, theirs, _held(QUARTER, entries))
        self._report.line("server, peak MB", peak, their_peak, MEMORY)

    def _windows(self, found: dict[str, Asked], theirs: dict[str, Asked]) -> None:
        for place in PLACES:
            ours, name = found[place], f"window at the {place}"
            wall = {AGENTSVIEW: theirs[place].wall} if theirs else {}
            cpu = {AGENTSVIEW: theirs[place].cpu} if theirs else {}
            self._report.line(f"{name}, ms", ours.wall, wall, NO_SLOWER)
            self._report.line(f"{name}, CPU ms", ours.cpu, cpu)
            self._report.same_at_any_length(name, ours.cpu)

    def _searches(
        self, found: dict[str, Asked], theirs: dict[str, Asked], quarter: Bar | None
    ) -> None:
        for words in WORDS:
            ours = found[words].wall
            index = {AGENTSVIEW: theirs[words].wall} if theirs else {}
            self._report.line(f"search {words}, ms", ours, index, quarter)
            if theirs:
                through = {AGENTSVIEW: theirs[f"contents {words}"].wall}
                self._report.line("  beside its search of contents", ours, through, quarter)
        for words in OPERATORS:
            self._report.line(f"search {words}, ms", found[words].wall)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--entries", type=int, nargs="+", default=_ENTRIES, help="lengths of the transcripts"
    )
    parser.add_argument(
        "--only", nargs="+", choices=_STEPS, default=_STEPS, help="the steps to take"
    )
    parser.add_argument("--no-peers", action="store_true", help="measure Vitrine alone")
    parser.add_argument(
        "--claude-code-log-to",
        type=int,
        default=10_000,
        metavar="ENTRIES",
        help=f"the longest transcript for {CLAUDE_CODE_LOG}: it takes minutes and 5 GB for 100,000",
    )
    return parser.parse_args()


def main() -> None:
    given = _arguments()
    programs = None if given.no_peers else peers.installed()
    start = time.perf_counter()
    report = Report()
    for entries in sorted(given.entries):
        with tempfile.TemporaryDirectory(prefix="vitrine-bench-") as folder:
            _Bench(given, programs, report).run(entries, Path(folder))
    print(f"\nIt took {time.perf_counter() - start:,.0f} s.")


if __name__ == "__main__":
    main()
