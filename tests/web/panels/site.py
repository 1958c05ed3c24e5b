"""A deployment as a browser meets it: signed in, holding the demo's recorded session."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

from sqlmodel import select
from starlette.testclient import TestClient

from app.db import tables
from app.db.engine import Database
from app.settings import Settings

ORIGIN = {"Origin": "http://testserver"}
VIEW_TOOL = "mcp__demo__show_capacity"


class PanelParser(HTMLParser):
    """The attributes of the ``data-panel`` element and the JSON for the broker."""

    def __init__(self) -> None:
        super().__init__()
        self.panel: dict[str, str] = {}
        self.data: dict[str, Any] = {}
        self._in_data = False
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        names = {name: value or "" for name, value in attrs}
        if "data-panel" in names:
            self.panel = names
        self._in_data = "data-panel-data" in names

    def handle_data(self, data: str) -> None:
        if self._in_data:
            self.data = json.loads(data)
            self._in_data = False


@dataclass
class Site:
    """A signed-in browser on a deployment that holds the demo's session."""

    client: TestClient
    database: Database
    session_id: str
    call: tables.ToolCall
    settings: Settings

    @property
    def address(self) -> str:
        return f"0-{self.call.call_seq}"

    @property
    def base(self) -> str:
        return f"/sessions/{self.session_id}/mcp_apps/{self.call.tool_call_id}"

    @property
    def connections(self) -> int:
        hub = self.client.app.state.hub  # type: ignore[attr-defined]
        return int(hub.connections_opened)

    def panel(self, at: str | None = None) -> Any:
        return self.client.get(self.base, params={"at": at or self.address})

    def parsed_panel(self) -> PanelParser:
        parser = PanelParser()
        answer = self.panel()
        assert answer.status_code == 200
        parser.feed(answer.text)
        return parser

    def rpc(self, method: object, params: object = None) -> dict[str, Any]:
        answer = self.rpc_answer({"method": method, "params": params})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def rpc_answer(self, body: object) -> Any:
        return self.client.post(
            f"{self.base}/rpc", params={"at": self.address}, json=body, headers=ORIGIN
        )

    def message(self, kind: str, params: object) -> Any:
        return self.client.post(
            f"{self.base}/message",
            params={"at": self.address},
            json={"kind": kind, "params": params},
            headers=ORIGIN,
        )

    def outbox(self) -> list[tables.ViewMessage]:
        with self.database.session() as db:
            query = select(tables.ViewMessage).order_by(tables.ViewMessage.created_at)  # type: ignore[arg-type]
            return list(db.exec(query))


MakeSite = Callable[..., Site]
