"""What every answer of a server has to be: there in time, and whole."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio

from app.mcp.errors import InputRequired, ServerTimeout


@asynccontextmanager
async def within(seconds: float) -> AsyncIterator[None]:
    try:
        with anyio.fail_after(seconds):
            yield
    except TimeoutError as error:
        raise ServerTimeout(seconds) from error


def check_complete(result: Mapping[str, Any]) -> None:
    if result.get("resultType") == "input_required":
        raise InputRequired
