"""The lines of requirements.lock that a part of pyproject.toml needs, hashes included.

    python .ci/container/locked.py            # what Vitrine needs to run
    python .ci/container/locked.py build      # what the extra "build" needs

The lock holds the test tools too, which have no place in an image. pip finds which packages are
needed, bound to the locked versions; what it then installs is checked against the lock's hashes.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
_ENTRY = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==\S+")
_HASH = re.compile(r"\s*\\?\s*--hash=\S+")


class LockError(RuntimeError):
    """The lines could not be found; the text is one sentence for the person who builds."""


def normalised(name: str) -> str:
    """A package's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def entries(lock: str) -> list[str]:
    """The lock's requirements, each with its continuation lines; comments are dropped."""
    lines = [line for line in lock.splitlines() if not line.lstrip().startswith("#")]
    found: list[list[str]] = []
    for line in lines:
        if found and found[-1][-1].endswith("\\"):
            found[-1].append(line)
        elif line.strip():
            found.append([line])
    return ["\n".join(entry) for entry in found]


def entry_name(entry: str) -> str:
    """Raises ``LockError`` for one that is not pinned by ``==`` or has no hash."""
    match = _ENTRY.match(entry)
    if match is None or "--hash=" not in entry:
        raise LockError(f"requirements.lock has a line without a pin or a hash: {entry[:80]}")
    return normalised(match["name"])


def selected(lock: str, names: set[str]) -> str:
    """The entries for ``names`` (normalised). A name may have several, told apart by markers.

    Raises ``LockError`` when one is missing.
    """
    kept = [(entry_name(entry), entry) for entry in entries(lock)]
    missing = names - {name for name, _ in kept}
    if missing:
        raise LockError(f"requirements.lock lacks {', '.join(sorted(missing))}: run make lock.")
    return "".join(f"{entry}\n" for name, entry in kept if name in names)


def needs(pyproject: str, extra: str | None) -> list[str]:
    """The requirements of the project itself, or of one extra."""
    project = tomllib.loads(pyproject)["project"]
    if extra is None:
        return list(project["dependencies"])
    try:
        return list(project["optional-dependencies"][extra])
    except KeyError:
        raise LockError(f"pyproject.toml has no extra called {extra}.") from None


def resolved(requirements: Sequence[str], lock: str) -> set[str]:
    """Names of all packages that ``requirements`` need on this machine, at the locked versions."""
    with tempfile.TemporaryDirectory(prefix="vitrine-lock-") as folder:
        pins, report = Path(folder, "pins.txt"), Path(folder, "report.json")
        pins.write_text("\n".join(_HASH.sub("", entry) for entry in entries(lock)) + "\n")
        command = [sys.executable, "-m", "pip", "-qq", "--no-input", "install"]
        # Nothing is run to find out: a source distribution's metadata is made by its own code.
        command += ["--dry-run", "--ignore-installed", "--only-binary", ":all:"]
        command += ["--report", str(report), "--constraint", str(pins), *requirements]
        done = subprocess.run(  # noqa: S603 - pip, with what the project itself declares
            command,
            env={
                **os.environ,
                "PIP_DISABLE_PIP_VERSION_CHECK": "1",
                "PIP_ROOT_USER_ACTION": "ignore",
            },
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            raise LockError(f"pip could not resolve the requirements:\n{done.stderr.strip()}")
        installs = json.loads(report.read_text())["install"]
    return {normalised(item["metadata"]["name"]) for item in installs}


def main(arguments: Sequence[str]) -> int:
    extra = arguments[0] if arguments else None
    try:
        requirements = needs((ROOT / "pyproject.toml").read_text(), extra)
        lock = (ROOT / "requirements.lock").read_text()
        sys.stdout.write(selected(lock, resolved(requirements, lock)))
    except LockError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
