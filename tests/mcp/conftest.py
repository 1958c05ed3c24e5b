"""A hub with small caps. The limits of time leave room for a slow machine: a test sets its own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.mcp.hub import Hub
from app.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        data_dir=tmp_path,
        connect_timeout_seconds=15,
        listing_timeout_seconds=15,
        call_timeout_seconds=15,
        result_max_bytes=100_000,
    )


@pytest.fixture
async def hub(settings: Settings) -> AsyncIterator[Hub]:
    async with Hub(settings, backoff_seconds=0.01, error_seconds=0.01) as hub:
        yield hub
