"""Secrets are hidden before anything is stored, and nothing else changes."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import VitrineError
from app.transcripts.redaction import SECRETS, Redactor, Rule, load

GITHUB = "ghp_" + "a1B2" * 9
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc+/=\n-----END RSA PRIVATE KEY-----"
SAMPLES = [
    "sk-ant-api03-" + "x" * 30,
    "sk-proj-" + "Ab1_" * 8,
    GITHUB,
    "gho_" + "a" * 36,
    "ghs_" + "b" * 36,
    "github_pat_" + "c" * 70,
    "glpat-" + "d" * 20,
    "xoxb-" + "1" * 24,
    "xoxp-" + "2" * 24,
    "AKIA" + "ABCD" * 4,
    "ASIA" + "EFGH" * 4,
    "AIza" + "e" * 35,
    "npm_" + "f" * 36,
]
redact = Redactor(SECRETS)


def line(text: str) -> bytes:
    return json.dumps({"text": text, "n": 1}).encode()


def test_there_is_a_sample_for_every_rule() -> None:
    texts = [line(sample) for sample in [*SAMPLES, KEY]]
    assert all(any(rule.pattern.search(text) for text in texts) for rule in SECRETS)


@pytest.mark.parametrize("secret", SAMPLES)
def test_a_secret_becomes_stars_of_its_length(secret: str) -> None:
    before = line(f"use {secret} please")
    after = redact(before)
    assert json.loads(after) == {"text": f"use {'*' * len(secret)} please", "n": 1}
    assert len(after) == len(before)


def test_of_a_private_key_its_body_is_hidden() -> None:
    text = json.loads(redact(line(KEY)))["text"]
    assert "MII" not in text
    assert text.startswith("-----BEGIN RSA PRIVATE KEY-----*")
    assert text.endswith("*-----END RSA PRIVATE KEY-----")


@pytest.mark.parametrize(
    "text",
    ["task-force", "sk-ant-short", "AKIA", "ghp_short", "a normal line", "AKIAlowercase1234"],
)
def test_what_only_looks_alike_stays(text: str) -> None:
    assert redact(line(text)) == line(text)


needles = st.sampled_from([rule.needle for rule in SECRETS])
beginnings = st.tuples(needles, st.integers(1)).map(lambda cut: cut[0][: cut[1]])
parts = st.lists(
    needles | beginnings | st.sampled_from([s.encode() for s in SAMPLES]) | st.binary(max_size=3)
)


@given(parts)
def test_asking_for_needles_first_loses_no_secret(joined: list[bytes]) -> None:
    asks_nothing = Redactor(Rule(rule.pattern) for rule in SECRETS)
    data = b"".join(joined)
    assert redact(data) == asks_nothing(data)


def test_only_the_line_with_the_secret_changes() -> None:
    lines = [line("one"), line(GITHUB), b"not json at all", b""]
    after = redact(b"\n".join(lines)).split(b"\n")
    assert [new == old for new, old in zip(after, lines, strict=True)] == [True, False, True, True]


def rules(tmp_path: Path, *patterns: str) -> Redactor:
    path = tmp_path / "rules"
    path.write_text("# ours\n\n" + "\n".join(patterns) + "\n")
    return load("off", path)


def test_own_rules_hide_what_they_match_or_their_group(tmp_path: Path) -> None:
    own = rules(tmp_path, r"hunter\d", r"pass(?:word)? is (?P<secret>\w+)")
    after = json.loads(own(line("hunter2; the password is swordfish.")))
    assert after["text"] == "*******; the password is *********."


def test_a_match_does_not_run_over_the_end_of_a_string(tmp_path: Path) -> None:
    own = rules(tmp_path, r"hide.*")
    assert json.loads(own(b'{"a": "hide this", "b": "not this"}')) == {
        "a": "*********",
        "b": "not this",
    }


def test_escapes_stay_whole(tmp_path: Path) -> None:
    own = rules(tmp_path, r"[a-z0-9]+-key\S*")
    # The n of the escape belongs to the match, by the letters of the raw line.
    assert json.loads(own(line('\nsome-key\t\u00fc"x')))["text"].startswith("\n****")
    assert json.loads(own(line("\u00fcsome-key")))["text"] == "\u00fc********"


def test_a_line_that_would_break_is_hidden_whole(tmp_path: Path) -> None:
    own = rules(tmp_path, r"\d{16}")
    card = b'{"number": 4111111111111111}'
    assert own(card) == b"*" * len(card)


@pytest.mark.parametrize("pattern", ["(", "a*", "x?", "*"])
def test_a_rule_that_cannot_be_used_is_named(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(VitrineError, match="Line 4"):
        rules(tmp_path, "fine", pattern)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(VitrineError, match="cannot be read"):
        load("on", tmp_path / "nowhere")


def test_switched_off_nothing_is_hidden() -> None:
    off = load("off", None)
    assert off.is_off
    assert off(line(GITHUB)) == line(GITHUB)
    assert not load("on", None).is_off


PARTS = ['"', "\\", "\n", "u", "0", "a", "é", "€", "key-", "ghp_"]
texts = st.lists(st.sampled_from(PARTS)).map("".join)


@given(texts, texts)
def test_what_is_hidden_keeps_its_length_and_its_json(before: str, after: str) -> None:
    data = line(before + GITHUB + after)
    hidden = redact(data)
    assert len(hidden) == len(data)
    assert GITHUB not in json.loads(hidden)["text"]
