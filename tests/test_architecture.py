"""The arrows of the design: who may import whom. They point one way, or the rules behind them
(one way out, one place that knows requests) are only habits.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
APP = ROOT / "app"

BASE = {"settings", "errors", "text", "db"}
MAY_IMPORT = {
    "settings": set[str](),
    "errors": set[str](),
    "text": set[str](),
    "db": {"settings"},
    "egress": BASE,
    "vault": {"settings", "errors"},
    "mcp": BASE | {"egress", "vault"},
    "transcripts": BASE,
    "mcp_apps": BASE | {"mcp", "transcripts"},
    "agents": BASE | {"mcp", "transcripts"},
    "surfaces": BASE | {"mcp"},
    "web": BASE | {"mcp", "mcp_apps", "transcripts", "agents", "surfaces"},
    # Those that put the parts together.
    "main": BASE | {"mcp", "mcp_apps", "vault", "web"},
    "serving": BASE | {"main", "web"},
    "demo": BASE | {"mcp", "mcp_apps", "transcripts"},
    "doctor": {"settings", "text", "egress"},
    "terminal": BASE | {"serving", "vault"},
    "people_commands": BASE | {"terminal", "web"},
    "secret_commands": BASE | {"mcp", "people_commands", "terminal", "vault"},
    "cli": BASE
    | {"doctor", "demo", "main", "mcp", "people_commands", "secret_commands"}
    | {"serving", "terminal", "transcripts", "vault", "web"},
}
# Modules that open connections, and the one module that may use them for outbound traffic.
OUTBOUND = {"httpx", "httpx2", "httpcore", "httpcore2", "urllib.request", "http.client", "socket",
            "requests", "aiohttp", "ssl"}  # fmt: skip
MAY_CONNECT = {f"app/egress/{name}.py" for name in ("__init__", "addresses", "backend", "guarded")}
# Uses of these names that open nothing.
NOT_OUTBOUND = {
    ("app/demo/run.py", "socket"): "listens",
    ("app/serving.py", "socket"): "names the type of a listening socket",
}


def part_of(path: Path) -> str:
    return path.relative_to(APP).parts[0].removesuffix(".py")


def modules() -> list[Path]:
    return sorted(APP.rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the arrows"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_follow_the_arrows(path: Path) -> None:
    part = part_of(path)
    if part == "__init__":
        return
    assert part in MAY_IMPORT, f"app/{part} has no place in the design"
    for name in imports(path):
        head, _, rest = name.partition(".")
        if head == "app" and rest and rest != "__version__":
            target = rest.split(".")[0]
            assert target == part or target in MAY_IMPORT[part], f"{path} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_only_egress_opens_connections(path: Path) -> None:
    name = str(path.relative_to(ROOT))
    if name in MAY_CONNECT:
        return
    for imported in imports(path):
        for outbound in OUTBOUND:
            if imported == outbound or imported.startswith(outbound + "."):
                assert (name, outbound) in NOT_OUTBOUND, f"{name} imports {imported}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_only_web_knows_requests(path: Path) -> None:
    if part_of(path) in {"web", "main", "serving", "demo"}:
        return
    for name in imports(path):
        assert not name.startswith(("fastapi", "starlette.requests", "starlette.responses")), name


def test_a_module_holds_one_concept() -> None:
    sources = [*modules(), *(APP / "static" / "js").rglob("*.js")]
    long = {str(path): n for path in sources if (n := len(path.read_text().splitlines())) > 400}
    assert long == {}


def test_no_outbound_exception_is_left_over() -> None:
    used = {
        (str(path.relative_to(ROOT)), imported.split(".")[0])
        for path in modules()
        for imported in imports(path)
    }
    assert set(NOT_OUTBOUND) <= used
