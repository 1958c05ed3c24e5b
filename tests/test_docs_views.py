"""docs/views.md says what the host really does, for people who cannot read its code."""

import re
from collections.abc import Iterator
from pathlib import Path

from app.mcp.errors import McpError
from app.mcp_apps import csp

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "views.md").read_text()
BROKER = ROOT / "app" / "static" / "js" / "broker"
METHOD = r"(?:ui|tools|resources|notifications)/[a-z/_-]+|ping"


def first_cells() -> Iterator[str]:
    """The first cell of every table row that begins with code."""
    for line in PAGE.splitlines():
        if line.startswith("| `"):
            yield line.split("|")[1]


def test_every_method_that_a_view_may_use_is_described_and_no_other() -> None:
    source = (BROKER / "requests.js").read_text()
    handled = set(re.findall(rf'^    \["({METHOD})",', source, re.MULTILINE))
    handled |= set(re.findall(r'"(ui/(?:message|update-model-context))": ', source))
    forwarded = re.search(r"^const FORWARDED = \[(.*)\];$", source, re.MULTILINE)
    assert forwarded is not None
    handled |= set(re.findall(r'"([a-z/]+)"', forwarded[1]))
    handled.add("notifications/cancelled")  # met by the connection itself
    assert len(handled) > 10
    described = {name for cell in first_cells() for name in re.findall(rf"`({METHOD})`", cell)}
    assert described == handled


def test_the_policy_is_shown_as_it_is_sent() -> None:
    assert f"\n{csp.build(None).headers['Content-Security-Policy']}\n" in PAGE


def test_every_list_that_widens_the_policy_is_described() -> None:
    lists = {"resourceDomains", "connectDomains", "frameDomains", "baseUriDomains"}
    assert set(csp.build({name: ["https://a.example"] for name in lists}).granted) == lists
    described = {cell.strip().strip("`") for cell in first_cells()}
    assert lists <= described


def subclasses(kind: type[McpError]) -> Iterator[type[McpError]]:
    for sub in kind.__subclasses__():
        yield sub
        yield from subclasses(sub)


def test_every_reason_of_a_failure_is_described() -> None:
    remote = (BROKER / "remote.js").read_text()
    reasons = set(re.findall(r'reason: "([a-z-]+)"', remote))
    reasons |= set(re.findall(r'\[-32\d+, "[^"]+", "([a-z-]+)"\]', remote))
    # These two reach a view as the server's own error, and as -32602.
    reasons |= {kind.reason for kind in subclasses(McpError)} - {"rejected", "unsendable"}
    assert {"busy", "server-error", "timeout"} <= reasons
    assert {reason for reason in reasons if f"`{reason}`" not in PAGE} == set()


def test_every_member_of_the_context_is_described() -> None:
    source = (BROKER / "context.js").read_text()
    body = source[source.index("export function hostContext") :]
    body = body[body.index("return {") : body.index("\n  };")]
    members = set(re.findall(r"^    (\w+)[:,]", body, re.MULTILINE))
    assert len(members) > 8
    described = set(re.findall(r"`(\w+)(?:\.\w+)?`", " ".join(first_cells())))
    assert members <= described


def test_the_limits_are_the_real_ones() -> None:
    for file, constant, value, shown in (
        ("protocol.js", "MESSAGE_LIMIT", "1_000_000", "1,000,000 characters"),
        ("protocol.js", "BURST", "400", "400 at once"),
        ("protocol.js", "PER_SECOND", "100", "100 a second"),
        ("json.js", "MAX_DEPTH", "200", "nested 200 deep"),
        ("protocol.js", "DOWNLOAD_LIMIT", "48_000_000", "48,000,000 characters"),
        ("protocol.js", "OVERSIZE_COST", "40", "counts as forty"),
        ("lane.js", "EACH", "3", "3 sent at once for a view"),
        ("lane.js", "AT_ONCE", "4", "4 for all of a page"),
        ("remote.js", "OPEN", "100", "100 open for a view"),
        ("files.js", "COUNT", "20", "at most 20 and 32 MB"),
        ("files.js", "TOTAL", "32 * 1024 * 1024", "at most 20 and 32 MB"),
        ("app_tools.js", "MOST", "50", "Up to 50 are kept"),
        ("app_tools.js", "PATIENCE", "30_000", "30 s for an answer"),
        ("app_tools.js", "PAUSE", "2_000", "every other second at most"),
        ("dialogs.js", "REFUSALS", "3", "3 in a row"),
        ("dialogs.js", "WAITING", "3", "3 of a view may wait"),
        ("dialogs.js", "PATIENCE", "60_000", "60 s each for its turn"),
        ("consent.js", "SHOWN", "20_000", "up to 20,000 characters"),
        ("session.js", "TEARDOWN_DEADLINE", "500", "500 ms"),
        ("startup.js", "AFTER_LOAD", "10_000", "ten seconds"),
        ("sizing.js", "MIN_HEIGHT", "40", "from 40 up"),
        ("sizing.js", "MAX_HEIGHT", "4000", "at most 4,000"),
    ):
        source = (BROKER / file).read_text()
        line = rf"^(?:export )?const {constant} = {re.escape(value)};"
        assert re.search(line, source, re.MULTILINE), file
        assert shown in PAGE
