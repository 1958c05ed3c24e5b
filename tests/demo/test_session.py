"""The recorded Claude Code session: real, whole, and free of what is not ours to give."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.demo import plan
from app.demo.run import SERVER_NAME, sessions_folder

[SESSION] = (sessions_folder() / "claude-code").glob("*/*.jsonl")
KEPT = {"user", "assistant", "system", "last-prompt", "queue-operation", "mode"}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def blocks(path: Path, kind: str) -> list[dict[str, Any]]:
    """The content blocks of one type, in file order."""
    contents = [line["message"]["content"] for line in lines(path) if "message" in line]
    return [
        block
        for content in contents
        if isinstance(content, list)
        for block in content
        if block["type"] == kind
    ]


@pytest.fixture
def session() -> Path:
    return SESSION


def test_the_file_is_named_as_its_session(session: Path) -> None:
    assert {line["sessionId"] for line in lines(session)} == {session.stem}
    assert session.read_bytes().endswith(b"\n")


def test_only_kinds_of_lines_that_are_free_of_vendor_text_are_kept(session: Path) -> None:
    assert {line["type"] for line in lines(session)} <= KEPT


@pytest.mark.parametrize(
    "word",
    ["<system-reminder>", "rendered", "You are Claude", "sk-ant", "/root", "/tmp", "[[scenario"],
)
def test_nothing_of_the_vendor_or_the_machine_is_left(session: Path, word: str) -> None:
    assert word not in session.read_text(encoding="utf-8")


def test_every_folder_named_is_the_invented_one(session: Path) -> None:
    assert {line["cwd"] for line in lines(session) if "cwd" in line} == {"/home/dev/checkout-api"}


def test_the_lines_hang_together(session: Path) -> None:
    seen: set[str] = set()
    roots = 0
    for line in lines(session):
        if "uuid" not in line:
            continue
        if line["parentUuid"] is None:
            roots += 1
        else:
            assert line["parentUuid"] in seen
        seen.add(line["uuid"])
    assert roots == 1


def test_it_has_every_kind_of_row(session: Path) -> None:
    assert blocks(session, "thinking")
    assert [call["name"] for call in blocks(session, "tool_use")] == [
        "Read",
        "Bash",
        f"mcp__{SERVER_NAME}__show_capacity",
        f"mcp__{SERVER_NAME}__publish_plan",
    ]
    answer = "\n".join(block["text"] for block in blocks(session, "text"))
    assert "|---|" in answer
    assert "```yaml" in answer


def test_the_recorded_result_is_what_the_server_answers_today(session: Path) -> None:
    [call] = [c for c in blocks(session, "tool_use") if c["name"].endswith("show_capacity")]
    [recorded] = [
        line["mcpMeta"]["structuredContent"]
        for line in lines(session)
        if "mcpMeta" in line and line["message"]["content"][0]["tool_use_id"] == call["id"]
    ]
    shown = plan.CapacityPlan.model_validate(recorded)
    asked = call["input"]
    ahead = plan.forecast(
        asked["weekly_peaks"], shown.history[0].week, asked["capacity"], asked["horizon_weeks"]
    )
    assert shown.model_dump(exclude={"service", "history"}) == ahead.model_dump()
    assert [point.peak for point in shown.history] == asked["weekly_peaks"]
    answer = "\n".join(block["text"] for block in blocks(session, "text"))
    assert f"**{shown.weeks_left} weeks**" in answer
