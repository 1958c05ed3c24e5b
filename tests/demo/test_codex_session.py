"""The recorded Codex session: real, whole, and free of what is not ours to give."""

import json
from typing import Any

import pytest

from app.demo import plan
from app.demo.run import SERVER_NAME, sessions_folder
from app.demo.server import VIEW_URI

[SESSION] = (sessions_folder() / "codex").rglob("rollout-*.jsonl")
TEXT = SESSION.read_text(encoding="utf-8")
LINES: list[dict[str, Any]] = [json.loads(line) for line in TEXT.splitlines()]
KEPT = {"session_meta", "turn_context", "response_item", "event_msg", "token_usage_record"}


def payloads(kind: str, name: str) -> list[dict[str, Any]]:
    """The payloads of lines of type ``kind`` whose own type is ``name``, in file order."""
    return [
        line["payload"]
        for line in LINES
        if line["type"] == kind and line["payload"].get("type") == name
    ]


def items(name: str) -> list[dict[str, Any]]:
    """The completed items of one type, in file order."""
    done = [payload["item"] for payload in payloads("event_msg", "item_completed")]
    return [item for item in done if item["type"] == name]


def test_the_file_is_named_as_its_thread() -> None:
    assert LINES[0]["type"] == "session_meta"
    assert SESSION.stem.endswith(LINES[0]["payload"]["id"])
    assert TEXT.endswith("\n")


def test_only_lines_that_are_free_of_vendor_text_are_kept() -> None:
    assert {line["type"] for line in LINES} == KEPT
    assert "base_instructions" not in LINES[0]["payload"]
    roles = {message["role"] for message in payloads("response_item", "message")}
    assert roles == {"user", "assistant"}
    assert all("encrypted_content" not in item for item in payloads("response_item", "reasoning"))


@pytest.mark.parametrize(
    "word",
    [
        "<environment_context>",
        "encrypted",
        "<skills",
        "You are ",
        "sk-",
        "/root",
        "/tmp",
        "[[scenario",
    ],
)
def test_nothing_of_the_vendor_or_the_machine_is_left(word: str) -> None:
    assert word not in TEXT


def test_every_folder_named_is_the_invented_one() -> None:
    cwds = {line["payload"]["cwd"] for line in LINES if "cwd" in line["payload"]}
    assert cwds == {"/home/dev/checkout-api"}


def test_lines_are_in_order() -> None:
    ordinals = [line["ordinal"] for line in LINES]
    assert ordinals == sorted(set(ordinals))
    times = [line["timestamp"] for line in LINES]
    assert times == sorted(times)


def test_both_turns_were_completed() -> None:
    started = [event["turn_id"] for event in payloads("event_msg", "task_started")]
    assert len(started) == 2
    assert [event["turn_id"] for event in payloads("event_msg", "task_complete")] == started


def test_it_has_every_kind_of_row() -> None:
    assert len(items("UserMessage")) == 2
    assert items("Reasoning")
    assert [item["exit_code"] for item in items("CommandExecution")] == [0]
    calls = [(item["server"], item["tool"], item["status"]) for item in items("McpToolCall")]
    assert calls == [
        (SERVER_NAME, "show_capacity", "completed"),
        (SERVER_NAME, "publish_plan", "completed"),
    ]
    answer = "\n".join(item["content"][0]["text"] for item in items("AgentMessage"))
    assert "|---|" in answer
    assert "```yaml" in answer


def test_the_view_is_recorded_with_the_call_that_has_one() -> None:
    recorded = {item["tool"]: item.get("mcpAppResourceUri") for item in items("McpToolCall")}
    assert recorded == {"show_capacity": VIEW_URI, "publish_plan": None}


def test_the_recorded_result_is_what_the_server_answers_today() -> None:
    call = items("McpToolCall")[0]
    shown = plan.CapacityPlan.model_validate(call["result"]["structuredContent"])
    asked = call["arguments"]
    ahead = plan.forecast(
        asked["weekly_peaks"], shown.history[0].week, asked["capacity"], asked["horizon_weeks"]
    )
    assert shown.model_dump(exclude={"service", "history"}) == ahead.model_dump()
    assert [point.peak for point in shown.history] == asked["weekly_peaks"]
    answer = "\n".join(item["content"][0]["text"] for item in items("AgentMessage"))
    assert f"**{shown.weeks_left} weeks**" in answer
