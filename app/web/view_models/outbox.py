"""What views said to the agent, as it would reach it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

from app.db import tables
from app.db.tables import MessageKind, MessageState
from app.mcp_apps.messages import attribution
from app.text import one_line

_KINDS: Final = {MessageKind.MESSAGE: "Message", MessageKind.CONTEXT: "Context update"}
_STATES: Final = {MessageState.HELD: "held", MessageState.REPLACED: "replaced by a later one"}


@dataclass(frozen=True, slots=True)
class OutboxItem:
    """``text`` is the view's own, ``attribution`` the line before it that says whose it is."""

    id: str
    kind: str
    state: str
    held: bool
    attribution: str
    text: str
    created_at: datetime
    session_id: str
    session_title: str
    address: str

    @classmethod
    def of(cls, message: tables.ViewMessage, title: str) -> Self:
        return cls(
            id=message.id,
            kind=_KINDS[MessageKind(message.kind)],
            state=_STATES[MessageState(message.state)],
            held=message.state == MessageState.HELD,
            attribution=attribution(message),
            text=message.text,
            created_at=message.created_at,
            session_id=message.session_id,
            session_title=one_line(" ".join(title.split()), 120) or "Untitled session",
            address=message.address,
        )


@dataclass(frozen=True, slots=True)
class OutboxPage:
    items: list[OutboxItem]
    page: int
    more: bool
