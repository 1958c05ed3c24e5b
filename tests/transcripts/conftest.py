"""Recorded and hand-made transcript files."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.transcripts.making import RECORDED, SESSION_ID

# No test here depends on how fast the machine is.
settings.register_profile(
    "transcripts", deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)
settings.load_profile("transcripts")


@pytest.fixture
def recorded() -> Path:
    """Folder of transcripts recorded from the real agent."""
    return RECORDED


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes lines to a transcript file and returns its path."""

    def writer(*lines: bytes, name: str = f"{SESSION_ID}.jsonl") -> Path:
        path = tmp_path / "projects" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(text + b"\n" for text in lines))
        return path

    return writer
