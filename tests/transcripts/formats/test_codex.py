"""Which rollout lines make which entries, and which file belongs where."""

import json
from pathlib import PurePath
from typing import Any

import pytest

from app.db.tables import CallState
from app.transcripts import formats
from app.transcripts.formats.base import Body, Kind, Place
from app.transcripts.formats.codex import NOTE_ARGUMENTS, Codex
from tests.transcripts.codex_making import (
    THREAD,
    VIEW,
    assistant,
    call,
    event,
    item,
    legacy_mcp,
    line,
    mcp,
    meta,
    output,
    response,
    sub_agent,
    user,
)
from tests.transcripts.making import user as claude_user

CODEX = Codex()
TEXT = [{"type": "input_text", "text": "hello"}]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (user("hello"), Kind.USER),
        (assistant("hello"), Kind.ASSISTANT),
        (item("AgentMessage", phase="commentary", content=TEXT), Kind.ASSISTANT),
        (item("Plan", text="1. look"), Kind.ASSISTANT),
        (item("Reasoning", summary_text=["hm"], raw_content=[]), Kind.THINKING),
        (item("Reasoning", summary_text=[], raw_content=["hm"]), Kind.THINKING),
        (item("Reasoning", summary_text=[], raw_content=[]), None),
        (item("HookPrompt", fragments=[{"text": "from a hook"}]), Kind.SYSTEM),
        (item("EnteredReviewMode", review="x"), Kind.SYSTEM),
        (item("ContextCompaction", id="c"), None),  # its line has the summary
        (line("compacted", {"message": "so far", "replacement_history": []}), Kind.SYSTEM),
        (item("SomethingNew"), None),
        (event("item_completed", item="x"), None),
        (event("turn_aborted", reason="interrupted"), Kind.ERROR),
        (event("error", message="no"), Kind.ERROR),
        (event("task_complete", last_agent_message="x"), None),
        (event("task_complete", error=None), None),
        (event("task_complete", error={"message": "no"}), Kind.ERROR),
        (event("task_started", turn_id="t"), None),
        (event("token_count", info={}), None),
        # 0.53 to 0.147
        (event("user_message", message="hello", images=[]), Kind.USER),
        (event("agent_message", message="k"), Kind.ASSISTANT),
        (event("agent_reasoning", text="hm"), Kind.THINKING),
        (event("agent_message", message=""), None),
        (event("thread_rolled_back", num_turns=1), Kind.SYSTEM),
        # What the model is given: the events say the same, and only what a person wrote.
        (response("message", role="user", content=TEXT), None),
        (response("message", role="developer", content=TEXT), None),
        (response("message", role="assistant", content=TEXT), None),
        (response("reasoning", summary=[{"type": "summary_text", "text": "hm"}]), None),
        (call("c"), Kind.TOOL_CALL),
        (response("custom_tool_call", call_id="c", name="apply_patch", input="x"), Kind.TOOL_CALL),
        (response("local_shell_call", call_id="c", action={"command": ["ls"]}), Kind.TOOL_CALL),
        (output("c"), Kind.TOOL_OUTPUT),
        (response("custom_tool_call_output", call_id="c", output="x"), Kind.TOOL_OUTPUT),
        (mcp("c"), Kind.TOOL_RESULT),
        (legacy_mcp("c", {"Ok": {"content": []}}), Kind.TOOL_RESULT),
        (item("CommandExecution", id="c", source="agent"), Kind.TOOL_RESULT),
        (item("FileChange", id="c"), Kind.TOOL_RESULT),
        (item("WebSearch", id="ws", query="x"), Kind.TOOL_RESULT),
        (item("CollabAgentToolCall", id="c", tool="spawn_agent"), Kind.TOOL_RESULT),
        (item("CollabAgentToolCall", id="c", tool="wait"), None),
        (meta(), None),
        (line("turn_context", {"cwd": "/x"}), None),
        (line("world_state", {}), None),
        (line("something_new", {"type": "user_message", "message": "x"}), None),
        (line("response_item", None), None),
    ],
)
def test_the_entry_of_a_line(data: bytes, kind: Kind | None) -> None:
    assert [made.kind for made in CODEX.index(data).items] == ([] if kind is None else [kind])


@pytest.mark.parametrize(
    ("text", "state", "made_up"),
    [
        ("Wall time: 0.1 seconds\nOutput:\n{}", CallState.DONE, False),
        ("aborted by user after 3.9s", CallState.INTERRUPTED, True),
        ("Wall time: 3.9 seconds\naborted by user", CallState.INTERRUPTED, True),
        ("unsupported call: mcp__probenosuch", CallState.FAILED, False),
        ("unsupported custom tool call: apply_patch", CallState.FAILED, False),
        ("Chunk ID: a\nWall time: 0 seconds\nProcess exited with code 0\nx", CallState.DONE, False),
        ("Chunk ID: a\nWall time: 0 seconds\nProcess exited with code 2\nx", "failed", False),
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nx", CallState.FAILED, False),
        ("Command: ls\nChunk ID: a\nWall time: 0 s\nProcess exited with code 1\n", "failed", False),
        ('{"output":"hi\\n","metadata":{"exit_code":0,"duration_seconds":0.0}}', "done", False),
        ('{"output":"no\\n","metadata":{"exit_code":1,"duration_seconds":0.0}}', "failed", False),
        # What a server or a command says cannot pass for what the agent says.
        ("Wall time: 0.1 seconds\nOutput:\naborted by user after 1s", CallState.DONE, False),
        ("Wall time: 0.1 seconds\nOutput:\nunsupported call: x", CallState.DONE, False),
        ("Wall time: 0.1 seconds\nOutput:\nExit code: 1", CallState.DONE, False),
        (
            json.dumps(
                {"output": '"metadata":{"exit_code":1,"x":0}}', "metadata": {"exit_code": 0}}
            ),
            CallState.DONE,
            False,
        ),
        ([{"type": "input_text", "text": "aborted by user after 1s"}], CallState.DONE, False),
        (None, CallState.DONE, False),
    ],
)
def test_the_state_of_an_output(text: object, state: CallState, made_up: bool) -> None:
    (made,) = CODEX.index(output("c", text)).items
    assert (made.state, made.synthetic, made.complete) == (state, made_up, False)


@pytest.mark.parametrize(
    ("data", "state"),
    [
        (mcp("c"), CallState.DONE),
        (mcp("c", {"content": [], "isError": True}, status="failed"), CallState.FAILED),
        (mcp("c", None, status="failed", error={"message": "no"}), CallState.FAILED),
        (legacy_mcp("c", {"Ok": {"content": []}}), CallState.DONE),
        (legacy_mcp("c", {"Ok": {"content": [], "isError": False}}), CallState.DONE),
        (legacy_mcp("c", {"Ok": {"content": [], "isError": True}}), CallState.FAILED),
        (legacy_mcp("c", {"Err": "no"}), CallState.FAILED),
        (legacy_mcp("c", "garbage"), CallState.FAILED),
        (item("CommandExecution", id="c", status="failed", exit_code=1), CallState.FAILED),
        (item("CommandExecution", id="c", status="declined"), CallState.FAILED),
        (item("FileChange", id="c", status="completed"), CallState.DONE),
    ],
)
def test_the_state_of_a_result(data: bytes, state: CallState) -> None:
    (made,) = CODEX.index(data).items
    assert (made.state, made.tool_call_id, made.complete) == (state, "c", True)


@pytest.mark.parametrize("data", [mcp("c"), legacy_mcp("c", {"Ok": {"content": []}})])
def test_a_result_names_its_server_its_tool_and_its_view(data: bytes) -> None:
    (made,) = CODEX.index(data).items
    assert (made.server, made.tool, made.resource_uri) == ("probe", "structured", VIEW)
    assert made.tool_name == "mcp__probe__structured"


@pytest.mark.parametrize(
    ("namespace", "name", "joined"),
    [
        ("mcp__probe", "structured", "mcp__probe__structured"),
        ("mcp__probe__", "structured", "mcp__probe__structured"),  # 0.121 to 0.130
        (None, "mcp__probe__structured", "mcp__probe__structured"),  # before
        ("mcp__a_", "x", "mcp__a___x"),
        ("mcp__a___", "x", "mcp__a___x"),
        (None, "exec_command", "exec_command"),
        ("multi_agent_v1", "spawn_agent", "multi_agent_v1.spawn_agent"),
        ("other", "mcp__probe__structured", "other.mcp__probe__structured"),
    ],
)
def test_one_name_for_one_tool(namespace: str | None, name: str, joined: str) -> None:
    data = call("c", name, namespace)
    (made,) = CODEX.index(data).items
    assert (made.tool_name, made.tool_call_id) == (joined, "c")
    assert CODEX.call(CODEX.decode(data), 0).name == joined


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"q": [1, {"a": null}]}', {"q": [1, {"a": None}]}),
        ("", {}),
        (None, {}),
        ("{}", {}),
        ({"q": 1}, {"q": 1}),
        ('{"q": ', None),
        ("[1]", None),
        ("null", None),
        (7, None),
    ],
)
def test_arguments_are_a_json_text(text: object, arguments: dict[str, Any] | None) -> None:
    data = response("function_call", call_id="c", name="x", arguments=text)
    got = CODEX.call(CODEX.decode(data), 0)
    assert got.arguments == (arguments or {})
    assert got.notes == ((NOTE_ARGUMENTS,) if arguments is None else ())


@pytest.mark.parametrize(
    ("data", "arguments"),
    [
        (response("custom_tool_call", name="apply_patch", input="*** x"), {"input": "*** x"}),
        (response("local_shell_call", action={"command": ["ls"]}), {"command": ["ls"]}),
        (mcp("c", arguments={"q": 1}), {"q": 1}),
        (legacy_mcp("c", {"Err": "no"}), {"q": 1}),
        (item("WebSearch", id="w", query="cats", action={"type": "search"}), {"query": "cats"}),
        (
            item("CommandExecution", id="c", source="user_shell", command=["bash", "-lc", "ls"]),
            {"command": ["bash", "-lc", "ls"]},
        ),
    ],
)
def test_arguments_of_other_calls(data: bytes, arguments: dict[str, Any]) -> None:
    assert CODEX.call(CODEX.decode(data), 0).arguments == arguments


@pytest.mark.parametrize(
    ("data", "body"),
    [
        (user("a"), Body("a")),
        (
            item("UserMessage", content=[{"type": "text", "text": "a"}, {"type": "local_image"}]),
            Body("a\n\n[image]"),
        ),
        (event("user_message", message="a", images=["data:x"]), Body("a\n\n[image]")),
        (event("agent_message", message="a"), Body("a")),
        (item("Reasoning", summary_text=["a", "b"], raw_content=["c"]), Body("a\n\nb")),
        (item("Reasoning", summary_text=[], raw_content=["c"]), Body("c")),
        (item("Reasoning", summary_text=["**Look**\n\na **b**"]), Body("Look\n\na **b**")),
        (event("agent_reasoning", text="**Look**"), Body("Look")),
        (event("turn_aborted", reason="interrupted"), Body("The turn was interrupted.")),
        (event("turn_aborted", reason="budget"), Body("The turn was ended: budget.")),
        (event("task_complete", error={"message": "no"}), Body("no")),
        (
            event("task_complete", error={"message": '{"error": {"message": "overloaded"}}'}),
            Body("overloaded"),
        ),
        (
            line("compacted", {"message": "so far"}),
            Body("so far", label="summary of the conversation so far"),
        ),
        (item("HookPrompt", fragments=[{"text": "a"}]), Body("a", label="hook")),
        (
            item("EnteredReviewMode", id="x", review="r"),
            Body('{\n  "review": "r"\n}', label="entered review mode"),
        ),
        (item("CommandExecution", aggregated_output="a\n", exit_code=0), Body("a\n")),
        (item("CommandExecution", aggregated_output="a\n", exit_code=2), Body("a\n\nExit code 2")),
        (
            item(
                "FileChange",
                stdout="Success",
                changes={"/a": {"type": "update", "unified_diff": "@@ -1 +1 @@"}},
            ),
            Body("Success\n\nupdate /a\n@@ -1 +1 @@"),
        ),
        (
            item(
                "CollabAgentToolCall",
                tool="spawn_agent",
                receiver_thread_ids=["t2"],
                receiver_agents=[{"agent_nickname": "Rawls"}],
            ),
            Body("Sub-agent Rawls (t2)"),
        ),
        (mcp("c"), Body("ok")),
        (
            mcp("c", {"content": [], "structuredContent": {"a": 1}}),
            Body('{\n  "a": 1\n}'),
        ),
        (
            mcp("c", {"content": [{"type": "image", "mimeType": "image/png"}]}),
            Body("[image: image/png]"),
        ),
        (mcp("c", None, error={"message": "no"}), Body("no")),
        (legacy_mcp("c", {"Err": "no"}), Body("no")),
        (output("c", "text"), Body("text")),
        (output("c", '{"output":"hi\\n","metadata":{"exit_code":0}}'), Body("hi\n")),
        (
            output("c", [{"type": "input_text", "text": "a"}, {"type": "input_image"}]),
            Body("a\n\n[image]"),
        ),
    ],
)
def test_the_text_of_an_entry(data: bytes, body: Body) -> None:
    assert CODEX.read(CODEX.decode(data), 0) == body


def test_facts() -> None:
    indexed = CODEX.index(meta(cwd="/home/dev/x"))
    assert (indexed.session_id, indexed.folder) == (THREAD, "/home/dev/x")
    assert CODEX.index(user("Please\nfix it")).prompt == "Please\nfix it"
    assert CODEX.index(event("user_message", message="fix")).prompt == "fix"
    assert CODEX.index(user("<user_action>x")).prompt == ""
    assert CODEX.index(assistant("no prompt")).prompt == ""
    assert CODEX.index(event("thread_name_updated", thread_name="Mine")).title == "Mine"


# Files

ONE = meta() + b"\n"


@pytest.mark.parametrize(
    "head",
    [
        ONE,
        b"\n" + ONE,
        b"broken\n" + ONE,
        user("hello") + b"\n",
        b'{"timestamp":"2026-11-30T20:00:00Z","type":"session_meta","payload":{"x":"'
        + b"x" * 300_000,
        b'{"timestamp":"2026-11-30T20:00:00Z","ordinal":0,"type":"session_meta","payload":{"x":"',
    ],
)
def test_detects(head: bytes) -> None:
    assert CODEX.detect(PurePath("x.jsonl"), head)
    found = formats.detect(PurePath("x.jsonl"), head)
    assert found is not None
    assert found.agent == "codex"


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\n",
        b"hello\n",
        b"[1]\n",
        b'{"type":"event_msg"}\n',
        b'{"type":"event_msg","timestamp":"x","payload":1}\n',
        b'{"type":["event_msg"],"timestamp":"x","payload":{}}\n',
        b'{"debug":"x","sessionId":"y","cwd":"z"}\n',
        claude_user("hello") + b"\n",
        b'{"timestamp":"x","type":"turn.started","payload":{}}\n',
    ],
)
def test_does_not_detect(head: bytes) -> None:
    assert not CODEX.detect(PurePath("rollout-x.jsonl"), head)


OTHER = "01a22e24-b6df-7783-bce7-3bc7ac49e1df"
PATH = f"/s/2026/11/30/rollout-2026-11-30T20-28-07-{OTHER}.jsonl"
SPAWN = {"subagent": {"thread_spawn": {"parent_thread_id": THREAD}}}


@pytest.mark.parametrize(
    ("path", "first", "place"),
    [
        (PATH, meta(OTHER), Place(PurePath(PATH), OTHER)),
        ("/s/copy.jsonl", meta(OTHER), Place(PurePath("/s/copy.jsonl"), OTHER)),
        (PATH, user("no meta"), Place(PurePath(PATH), OTHER)),
        ("/s/copy.jsonl", user("no meta"), Place(PurePath("/s/copy.jsonl"), "copy")),
        (PATH, sub_agent(OTHER), Place(None, THREAD, OTHER)),
        # Without the root's id, the parent is all that is known.
        (PATH, line("session_meta", {"id": OTHER, "source": SPAWN}), Place(None, THREAD, OTHER)),
        # A fork, and what cannot be.
        (PATH, meta(OTHER, forked_from_id=THREAD), Place(PurePath(PATH), OTHER)),
        (PATH, meta(OTHER, parent_thread_id=OTHER), Place(PurePath(PATH), OTHER)),
        (PATH, sub_agent(OTHER, "../x"), Place(PurePath(PATH), OTHER)),
        (PATH, meta(OTHER, source={"subagent": "review"}), Place(PurePath(PATH), OTHER)),
    ],
)
def test_where_a_file_belongs(path: str, first: bytes, place: Place) -> None:
    assert CODEX.place(PurePath(path), first + b"\n") == place
