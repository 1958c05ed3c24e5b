"""The build hook: when it builds, with which Node, and that it fails with a sentence."""

import gzip
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import hatch_build

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what the bundle is made from, with no bundle yet."""
    root = tmp_path / "checkout"
    for path in hatch_build.inputs(ROOT):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, root / path)
    return root


def pretend_current(root: Path) -> None:
    for output in hatch_build.OUTPUTS:
        (root / output).parent.mkdir(parents=True, exist_ok=True)
        (root / output).write_text(hatch_build._banner(hatch_build.stamp(root)) + "\n")


def program(folder: Path, name: str, script: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.parametrize("path", hatch_build.inputs(ROOT), ids=str)
def test_a_change_of_any_input_makes_the_bundle_stale(checkout: Path, path: Path) -> None:
    pretend_current(checkout)
    assert hatch_build.is_current(checkout)
    with (checkout / path).open("a") as file:
        file.write("\n")
    assert not hatch_build.is_current(checkout)


def test_a_module_that_comes_or_goes_makes_the_bundle_stale(checkout: Path) -> None:
    pretend_current(checkout)
    more = checkout / hatch_build.SCRIPTS / "broker" / "more.js"
    more.write_text("export const more = 1;\n")
    assert not hatch_build.is_current(checkout)
    more.unlink()
    assert hatch_build.is_current(checkout)


@pytest.mark.parametrize("output", hatch_build.OUTPUTS, ids=str)
@pytest.mark.parametrize("content", [None, "", "console.log(1)"])
def test_a_missing_or_foreign_bundle_is_stale(
    checkout: Path, content: str | None, output: Path
) -> None:
    pretend_current(checkout)
    if content is None:
        (checkout / output).unlink()
    else:
        (checkout / output).write_text(content)
    assert not hatch_build.is_current(checkout)


def test_a_current_bundle_needs_no_node(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_current(checkout)
    monkeypatch.setattr(hatch_build, "find_node", lambda: pytest.fail("looked for Node"))
    assert hatch_build.build(checkout) is False


@pytest.mark.parametrize(
    ("node", "npm", "taken"),
    [
        ("echo v20.0.0", "true", True),
        ("echo v100.1.2", "true", True),
        ("echo v19.9.9", "true", False),
        ("exit 1", "true", False),
        ("echo nonsense", "true", False),
        ("echo v22.0.0", None, False),
        (None, "true", False),
    ],
)
def test_node_on_path_must_be_new_enough_and_have_npm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, node: str | None, npm: str | None, taken: bool
) -> None:
    for name, script in (("node", node), ("npm", npm)):
        if script is not None:
            program(tmp_path, name, script)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = hatch_build.node_on_path()
    assert (found is not None) is taken
    if found is not None:
        assert found == hatch_build.Node(str(tmp_path / "node"), (str(tmp_path / "npm"),))


def test_without_node_on_path_the_wheel_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = hatch_build.find_node()
    assert found.npm[0] == found.node
    assert found.npm[1].endswith("npm-cli.js")
    version = subprocess.run([found.node, "--version"], capture_output=True, text=True, check=True)
    assert int(version.stdout.removeprefix("v").split(".")[0]) >= hatch_build.MIN_NODE


def test_an_isolated_build_asks_for_the_wheel_only_when_it_needs_it(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = hatch_build.CustomBuildHook.__new__(hatch_build.CustomBuildHook)
    monkeypatch.setattr(hatch_build.CustomBuildHook, "root", str(checkout))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert hook.dependencies() == [hatch_build.NODE_WHEEL]
    program(tmp_path, "node", "echo v22.0.0")
    program(tmp_path, "npm", "true")
    assert hook.dependencies() == []
    (tmp_path / "npm").unlink()
    pretend_current(checkout)
    assert hook.dependencies() == []


def test_no_node_anywhere_is_a_sentence(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(hatch_build, "node_from_wheel", lambda: None)
    with pytest.raises(hatch_build.BuildError, match=r"needs Node 20 .* neither was found\."):
        hatch_build.build(checkout)
    assert not (checkout / hatch_build.DIST).exists()


def test_a_missing_input_is_a_sentence(checkout: Path) -> None:
    (checkout / "package-lock.json").unlink()
    with pytest.raises(hatch_build.BuildError, match=r"needs package-lock\.json"):
        hatch_build.build(checkout)


def test_a_failing_npm_is_told_and_the_old_bundle_stays(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = checkout / hatch_build.OUTPUTS[0]
    output.parent.mkdir(parents=True)
    output.write_text("old")
    program(tmp_path, "node", "echo v22.0.0")
    program(tmp_path, "npm", "echo no such package >&2; exit 7")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.defpath}")
    with pytest.raises(hatch_build.BuildError, match=r"npm ci ended with 7:\nno such package"):
        hatch_build.build(checkout)
    assert output.read_text() == "old"
    assert [path.name for path in output.parent.iterdir()] == [output.name]


def test_run_by_itself_it_ends_with_one_line(checkout: Path) -> None:
    (checkout / ".npmrc").unlink()
    done = subprocess.run(
        [sys.executable, "hatch_build.py"],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert ".npmrc" in done.stderr


def test_builds_side_by_side_make_the_whole_bundle(checkout: Path) -> None:
    """The real build, three times at once: htmx and its extension in one file."""
    failures: list[BaseException] = []

    def build() -> None:
        try:
            hatch_build.build(checkout)
        except BaseException as error:  # noqa: BLE001 - handed to the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=build) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    dist = checkout / hatch_build.DIST
    assert {path.name for path in dist.iterdir()} == {path.name for path in hatch_build.OUTPUTS}
    assert hatch_build.is_current(checkout)
    bundle = (dist / "htmx.js").read_text()
    assert '"4.0.1"' in bundle
    assert "window.htmx=" in bundle
    assert "hx-sse:connect" in bundle
    assert "registerExtension" in bundle
    assert "import(" not in bundle
    for name in ("app.js", "events_worker.js"):
        # Whole in one file: nothing is left to be loaded by name.
        assert not re.search(r"\bimport\b\s*[\"'({*]|\bfrom\s*[\"']\.", (dist / name).read_text())
    assert not any(
        (checkout / name).exists() for name in ("node_modules", "app/static/node_modules")
    )


def test_the_lock_names_no_host() -> None:
    for lock in ("package-lock.json", "e2e/package-lock.json"):
        text = (ROOT / lock).read_text()
        assert '"resolved"' not in text
        assert '"integrity": "sha512-' in text


def test_the_installed_bundle_is_current() -> None:
    assert hatch_build.is_current(ROOT)


def test_the_broker_is_small(checkout: Path) -> None:
    """Under 20 KB gzipped, as it is bundled for a page."""
    (checkout / hatch_build.SCRIPTS / "app.js").write_text(
        'import { mountPanels } from "./broker/panel.js";\n'
        "mountPanels({ live: window.live, calls: window.calls });\n"
    )
    hatch_build.build(checkout)
    bundle = (checkout / hatch_build.DIST / "app.js").read_bytes()
    assert 10_000 < len(gzip.compress(bundle, 9)) < 20_000
