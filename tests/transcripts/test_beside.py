"""What lies about a transcript's file and is kept with its session."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from app.db import tables
from app.db.engine import Database
from app.transcripts import beside, timeline
from app.transcripts.formats import claude_code_result
from app.transcripts.ingest import import_paths
from app.transcripts.recorded_call import RecordedCall, recorded_call
from app.transcripts.timeline import Level
from tests.transcripts.codex_making import meta as codex_meta
from tests.transcripts.codex_making import user as codex_user
from tests.transcripts.making import SESSION_ID, call, load, result, user

Write = Callable[..., Path]
FILE = "mcp-probe-structured-1796071347294-abc123.txt"


def too_large(name: str = FILE) -> str:
    return (
        "Error: result (98,800 characters across 3,800 lines) exceeds maximum allowed tokens. "
        f"Output has been saved to /elsewhere/tool-results/{name}.\nFormat: Plain text\n"
    )


def side_file(path: Path, name: str, data: bytes) -> Path:
    folder = path.with_suffix("") / "tool-results"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    return folder / name


def recorded(database: Database, session_id: str, call_id: str = "c") -> RecordedCall:
    with database.session() as db:
        return recorded_call(db, session_id, call_id)


# Results in side files


def test_a_result_that_was_too_large_is_read_from_its_file(
    database: Database, write: Write
) -> None:
    text = too_large()
    path = write(call("c"), result("c", text, toolUseResult=text))
    side_file(path, FILE, "the whole text ü".encode())
    got = recorded(database, load(database, path))
    assert got.result == {"content": [{"type": "text", "text": "the whole text ü"}]}
    assert got.notes == [claude_code_result.NOTE_TOO_LARGE, claude_code_result.NOTE_SIDE_FILE]


def test_the_agent_may_delete_the_file_afterwards(database: Database, write: Write) -> None:
    text = too_large()
    path = write(call("c"), result("c", text, toolUseResult=text))
    kept = side_file(path, FILE, b"whole")
    session_id = load(database, path)
    kept.unlink()
    path.write_bytes(path.read_bytes() + user("next") + b"\n")
    import_paths(database, [path])
    assert recorded(database, session_id).result == {"content": [{"type": "text", "text": "whole"}]}


@pytest.mark.parametrize(
    "name",
    [
        "mcp-other-structured-1-a.txt",  # another server's
        "mcp-probe-other-1-a.txt",  # another tool's
        "toolu_1.txt",
    ],
)
def test_a_text_cannot_name_another_tool_s_file(
    database: Database, write: Write, name: str
) -> None:
    """The text may be a server's own: what it names must not reach that server's view."""
    text = too_large(name)
    path = write(call("c"), result("c", text, toolUseResult=text))
    side_file(path, name, b"secret of another server")
    assert recorded(database, load(database, path)).result is None


@pytest.mark.parametrize("name", ["../../etc/passwd", "..\\x.txt", "a\0.txt", "", "x" * 300])
def test_only_names_of_kept_files_are_found(database: Database, write: Write, name: str) -> None:
    path = write(user("x"))
    side_file(path, FILE, b"x")
    session_id = load(database, path)
    with database.session() as db:
        assert beside.reader(db, session_id)(name) is None
        assert beside.reader(db, session_id)(FILE) == b"x"
        assert beside.reader(db, "another session")(FILE) is None


def test_content_that_was_persisted_is_read_from_its_file(database: Database, write: Write) -> None:
    """In a sub-agent's transcript there is no toolUseResult."""
    text = "<persisted-output>\nOutput too large (79.1KB). Full output saved to: /x/c.json\n"
    path = write(call("c"), result("c", text))
    blocks = [{"type": "text", "text": "first"}, {"type": "text", "text": "second"}]
    side_file(path, "c.json", json.dumps(blocks).encode())
    got = recorded(database, load(database, path))
    assert got.result == {"content": blocks}


@pytest.mark.parametrize("data", [b"{", b"{}", b"\xff", b""])
def test_a_persisted_file_that_is_no_content_is_none(
    database: Database, write: Write, data: bytes
) -> None:
    path = write(call("c"), result("c", "<persisted-output>\nOutput too large"))
    side_file(path, "c.json", data)
    assert recorded(database, load(database, path)).result is None


def audio(name: str) -> list[dict[str, str]]:
    text = f"[Audio from probe] Binary content (audio/wav, 4 bytes) saved to /x/tool-results/{name}"
    return [{"type": "text", "text": text}]


def test_audio_comes_back(database: Database, write: Write) -> None:
    name = "mcp-probe-blob-1-a.wav"
    path = write(call("c"), result("c", audio(name), toolUseResult=audio(name)))
    side_file(path, name, b"RIFF")
    got = recorded(database, load(database, path))
    assert got.result == {
        "content": [{"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}]
    }


def test_audio_of_another_server_does_not(database: Database, write: Write) -> None:
    name = "mcp-other-blob-1-a.wav"
    path = write(call("c"), result("c", audio(name), toolUseResult=audio(name)))
    side_file(path, name, b"RIFF")
    got = recorded(database, load(database, path))
    assert got.result == {"content": audio(name)}


def test_neither_links_nor_other_files_are_kept(database: Database, write: Write) -> None:
    path = write(user("x"))
    secret = path.parent / "secret"
    secret.write_text("secret")
    side_file(path, "mcp-probe-x-1.txt", b"kept")
    folder = path.with_suffix("") / "tool-results"
    (folder / "link.txt").symlink_to(secret)
    (folder / "folder.txt").mkdir()
    (folder / "program.sh").write_text("x")
    load(database, path)
    with database.session() as db:
        assert db.exec(select(tables.SideFile.name)).all() == ["mcp-probe-x-1.txt"]


# The call that started a sub-agent


def test_a_working_sub_agent_is_under_its_call(database: Database, write: Write) -> None:
    """The call has no result yet; the file beside the sub-agent's transcript names it."""
    path = write(user("go"), call("task", "Agent"))
    sub = path.with_suffix("") / "subagents" / "agent-a1.jsonl"
    sub.parent.mkdir(parents=True)
    sub.write_bytes(user("do it", isSidechain=True, agentId="a1") + b"\n")
    sub.with_name("agent-a1.meta.json").write_text('{"toolUseId": "task"}')
    session_id = load(database, path, sub)
    with database.session() as db:
        rows = timeline.window(db, session_id, Level.CONDENSED, []).rows
    agent = rows[1].call.sub_agent if rows[1].call else None
    assert agent is not None
    assert (agent.number, agent.entry_count) == (1, 1)


# Servers of the configuration


def servers(database: Database) -> dict[str, tuple[str, str, str, dict[str, str]]]:
    with database.session() as db:
        rows = db.exec(select(tables.SessionServer)).all()
    return {row.name: (row.url, row.transport, row.origin, row.headers) for row in rows}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def project(home: Path) -> tuple[Path, Path]:
    """(the session's folder, its transcript in the agent's own)."""
    folder = home / "work" / "shop"
    folder.mkdir(parents=True)
    slug = "".join(char if char.isalnum() else "-" for char in str(folder))
    path = home / ".claude" / "projects" / slug / f"{SESSION_ID}.jsonl"
    path.parent.mkdir(parents=True)
    lines = [user("x", cwd=str(folder)), call("c", "mcp__given__tool"), result("c")]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return folder, path


def put(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def logged(home: Path, path: Path, session_id: str = SESSION_ID) -> None:
    options = {"url": "http://127.0.0.1:9/mcp", "headers": {"User-Agent": "x", "X-Key": "secret"}}
    line = {"debug": f"HTTP transport options: {json.dumps(options)}", "sessionId": session_id}
    logs = home / ".cache" / "claude-cli-nodejs" / path.parent.name / "mcp-logs-given"
    put(logs / "2026-11-30T20-34-36-185Z.jsonl", line)


def test_claude_code_s_places(database: Database, home: Path) -> None:
    folder, path = project(home)
    put(folder / ".mcp.json", {"mcpServers": {"a": {"type": "http", "url": "https://a/"}, "b": {}}})
    put(
        home / ".claude.json",
        {
            "mcpServers": {
                "a": {"url": "https://user/"},
                "u": {"type": "sse", "url": "https://u/"},
            },
            "projects": {str(folder): {"mcpServers": {"p": {"command": "x", "env": {"K": "s"}}}}},
        },
    )
    logged(home, path)
    import_paths(database, [path])
    assert servers(database) == {
        "a": ("https://a/", "streamable-http", "project", {}),
        "b": ("", "stdio", "project", {}),
        "u": ("https://u/", "sse", "user", {}),
        "p": ("", "stdio", "local", {}),
        "given": ("http://127.0.0.1:9/mcp", "streamable-http", "log", {"X-Key": ""}),
    }


def test_a_log_of_another_session_says_nothing(database: Database, home: Path) -> None:
    _, path = project(home)
    logged(home, path, "another")
    import_paths(database, [path])
    assert servers(database) == {}


def test_secrets_of_headers_are_not_kept(
    database: Database, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "from the environment of Vitrine")
    folder, path = project(home)
    headers = {
        "Authorization": "Bearer ${KEY}",
        "X-Plain": "s3cret",
        "X-Default": "${KEY:-s3cret}",
        "X-Mixed": "s3cret${KEY}",
        "bad name": "${KEY}",
    }
    table = {"a": {"url": "https://${HOST:-x}/${KEY}", "headers": headers}}
    put(folder / ".mcp.json", {"mcpServers": table})
    import_paths(database, [path])
    url, _, _, kept = servers(database)["a"]
    assert url == "https://${HOST:-x}/${KEY}"
    assert kept == {
        "Authorization": "Bearer ${KEY}",
        "X-Plain": "",
        "X-Default": "${KEY}",
        "X-Mixed": "",
    }


@pytest.mark.parametrize("place", ["downloads", "projects/other", "downloads/{slug}"])
def test_a_copied_transcript_is_no_reason_to_read_elsewhere(
    database: Database, home: Path, place: str
) -> None:
    """What a file says of its folder is somebody's text."""
    folder, path = project(home)
    put(folder / ".mcp.json", {"mcpServers": {"a": {"url": "https://a/"}}})
    copy = home / place.format(slug=path.parent.name) / path.name
    copy.parent.mkdir(parents=True)
    copy.write_bytes(path.read_bytes())
    import_paths(database, [copy])
    assert servers(database) == {}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"mcpServers": []}', '{"mcpServers": {"a": 5, "": {}}}', "[" * 5000]
)
def test_a_broken_configuration_has_no_servers(database: Database, home: Path, text: str) -> None:
    folder, path = project(home)
    (folder / ".mcp.json").write_text(text)
    assert import_paths(database, [path]).files_skipped == []
    assert servers(database) == {}


def test_today_s_configuration_is_not_that_of_a_finished_session(
    database: Database, home: Path
) -> None:
    folder, path = project(home)
    put(folder / ".mcp.json", {"mcpServers": {"a": {"url": "https://then/"}}})
    import_paths(database, [path])
    put(folder / ".mcp.json", {"mcpServers": {"a": {"url": "https://now/"}}})
    import_paths(database, [path])
    assert servers(database)["a"][0] == "https://then/"
    with path.open("ab") as file:
        file.write(user("it goes on") + b"\n")
    import_paths(database, [path])
    assert servers(database)["a"][0] == "https://now/"


def test_codex_s_configuration(database: Database, home: Path) -> None:
    path = home / ".codex" / "sessions" / "2026" / "11" / "30" / "rollout-x.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(codex_meta() + b"\n" + codex_user("x") + b"\n")
    (home / ".codex" / "config.toml").write_text(
        '[mcp_servers.probe]\nurl = "http://127.0.0.1:8801/mcp"\n'
        'bearer_token_env_var = "PROBE_TOKEN"\n'
        'http_headers = { "X-Static" = "static-value" }\n'
        'env_http_headers = { "X-From-Env" = "PROBE_EXTRA" }\n'
        '[mcp_servers.local]\ncommand = "x"\n'
    )
    import_paths(database, [path])
    assert servers(database) == {
        "probe": (
            "http://127.0.0.1:8801/mcp",
            "streamable-http",
            "user",
            {
                "X-Static": "",
                "X-From-Env": "${PROBE_EXTRA}",
                "Authorization": "Bearer ${PROBE_TOKEN}",
            },
        ),
        "local": ("", "stdio", "user", {}),
    }


@pytest.mark.parametrize("url", ["https://user:pw@a/", "https://a b/", 5, "x" * 3000, None])
def test_what_is_no_usable_url_is_not_kept(database: Database, home: Path, url: Any) -> None:
    folder, path = project(home)
    put(folder / ".mcp.json", {"mcpServers": {"a": {"type": "http", "url": url}}})
    import_paths(database, [path])
    assert servers(database)["a"][0] == ""


# A file that its agent put elsewhere


def test_an_archived_thread_is_the_same_session(database: Database, home: Path) -> None:
    name = "rollout-2026-11-30T20-25-40-01a22e22-0000-7000-8000-000000000001.jsonl"
    path = home / ".codex" / "sessions" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(codex_meta() + b"\n" + codex_user("x") + b"\n")
    import_paths(database, [path])
    archived = home / ".codex" / "archived_sessions" / name
    archived.parent.mkdir()
    path.rename(archived)
    again = import_paths(database, [archived])
    assert (again.sessions_new, again.files_unchanged) == (0, 1)
    with database.session() as db:
        [transcript] = db.exec(select(tables.Transcript)).all()
    assert transcript.path == str(archived)


def test_a_copy_beside_the_file_is_its_own(database: Database, home: Path) -> None:
    path = home / "a" / "rollout-x.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(codex_meta() + b"\n" + codex_user("x") + b"\n")
    copy = home / "b" / path.name
    copy.parent.mkdir()
    copy.write_bytes(path.read_bytes())
    assert import_paths(database, [path]).sessions_new == 1
    assert import_paths(database, [copy]).sessions_new == 1
