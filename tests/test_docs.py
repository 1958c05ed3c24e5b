"""Docs are part of a change: what people set, call or run is described, with its real default."""

import re
from pathlib import Path

import pytest
import typer.main
from fastapi.routing import iter_route_contexts
from starlette.routing import Mount

from app.cli import cli
from app.main import create_app
from app.settings import Settings

DOCS = Path(__file__).resolve().parent.parent / "docs"


def rows(page: str) -> dict[str, list[str]]:
    """First cell → the other cells, of every table row of a page."""
    cells = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in (DOCS / page).read_text().splitlines()
        if line.startswith("| `")
    ]
    return {row[0]: row[1:] for row in cells}


def test_every_setting_is_described_with_its_default() -> None:
    described = rows("settings.md")
    names = {f"`VITRINE_{name.upper()}`" for name in Settings.model_fields}
    assert set(described) == names
    for name, field in Settings.model_fields.items():
        shown = described[f"`VITRINE_{name.upper()}`"][0]
        if name != "data_dir":
            assert shown == (f"`{field.default}`" if field.default != "" else "empty"), name


def test_every_command_is_described() -> None:
    commands = set(typer.main.get_group(cli).commands)
    described = {cell.strip("`").split()[1] for cell in rows("commands.md")}
    assert described == commands


def test_every_route_is_described(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path))
    real = set()
    for context in iter_route_contexts(app.routes):
        if isinstance(context.original_route, Mount):
            real.add(f"GET {context.original_route.path}/…")
        else:
            path = re.sub(r"{(\w+):\w+}", r"{\1}", str(context.path))
            real |= {f"{method} {path}" for method in context.methods or () if method != "HEAD"}
    described = {
        part.strip().strip("`") for cell in rows("routes.md") for part in cell.split("`, `")
    }
    assert described == real


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+\.md)\)", page.read_text()):
        assert (page.parent / target).is_file(), target
