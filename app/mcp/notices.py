"""What a server says without an answer to it: how far a call has come, and that a list changed.

Only what is open is heard. A connection that was closed for want of use is not opened to listen;
what was missed then is found out when the cache's time is over.
"""

import asyncio
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from mcp import Client, MCPError
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.dispatcher import coerce_request_id
from mcp_types import (
    METHOD_NOT_FOUND,
    ProgressNotification,
    RequestId,
    ResourceListChangedNotification,
    ServerNotification,
    ToolListChangedNotification,
)

from app.mcp.paced import Paced

OnProgress = Callable[[float, float | None, str | None], None]

TOOLS: Final = "tools"
RESOURCES: Final = "resources"
# A view draws no bar more often than this, and a server's flood ends here.
PROGRESS_SECONDS: Final = 0.1
MAX_PROGRESS_TEXT: Final = 500
# So often at most the listings are read anew for a server that cannot stop saying so.
CHANGED_SECONDS: Final = 1
# A subscription that a proxy ends each minute is opened again without waiting longer and longer.
STEADY_SECONDS: Final = 30
MAX_PAUSE_SECONDS: Final = 60


class Notices:
    """The ear of one connection. ``changed`` is called with ``"tools"`` or ``"resources"``."""

    def __init__(self, changed: Callable[[str], None]) -> None:
        self._followed: dict[RequestId, Paced[[float, float | None, str | None]]] = {}
        self._changed = {
            what: Paced(lambda what=what: changed(what), CHANGED_SECONDS)
            for what in (TOOLS, RESOURCES)
        }

    @contextmanager
    def follow(self, token: RequestId, on_progress: OnProgress) -> Iterator[None]:
        """``on_progress`` gets what is said under ``token`` meanwhile, the last of it always."""
        paced = Paced(on_progress, PROGRESS_SECONDS)
        self._followed[token] = paced
        try:
            yield
            paced.flush()
        finally:
            del self._followed[token]
            paced.close()

    async def hear(self, message: ServerNotification | Exception) -> None:
        """The SDK's handler of everything that is no answer."""
        match message:
            case ProgressNotification():
                self._hear_progress(message)
            case ToolListChangedNotification():
                self._changed[TOOLS]()
            case ResourceListChangedNotification():
                self._changed[RESOURCES]()

    async def listen(self, client: Client, *, first_pause: float) -> None:
        """Keeps a subscription open (2026-07-28), where the server offers one. Before that era
        the SDK's own stream brings what is said.
        """
        can = client.server_capabilities
        tools = bool(can.tools and can.tools.list_changed)
        resources = bool(can.resources and can.resources.list_changed)
        if not tools and not resources:
            return
        pause = first_pause
        is_first = True
        while True:
            began = time.monotonic()
            try:
                async with client.listen(
                    tools_list_changed=tools, resources_list_changed=resources
                ) as subscription:
                    if not is_first:
                        self._missed(tools=tools, resources=resources)
                    is_first = False
                    # Each event comes to ``hear`` too; here they are only taken away.
                    async for _ in subscription:
                        continue
            except ListenNotSupportedError:
                return
            except MCPError as error:
                if error.code == METHOD_NOT_FOUND:
                    return
            except (SubscriptionLost, TimeoutError):
                pass
            if time.monotonic() - began > STEADY_SECONDS:
                pause = first_pause
            await asyncio.sleep(pause)
            pause = min(pause * 2, MAX_PAUSE_SECONDS)

    def close(self) -> None:
        for paced in self._changed.values():
            paced.flush()
            paced.close()

    def _missed(self, *, tools: bool, resources: bool) -> None:
        """Nobody knows what was said while no subscription stood."""
        if tools:
            self._changed[TOOLS]()
        if resources:
            self._changed[RESOURCES]()

    def _hear_progress(self, message: ProgressNotification) -> None:
        said = message.params
        # Some servers turn the number into a text.
        paced = self._followed.get(coerce_request_id(said.progress_token))
        if paced is None or not math.isfinite(said.progress):
            return
        total = said.total if said.total is not None and math.isfinite(said.total) else None
        text = None if said.message is None else said.message[:MAX_PROGRESS_TEXT]
        paced(said.progress, total, text)
