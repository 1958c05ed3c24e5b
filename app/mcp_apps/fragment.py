"""A view's document as its server gives it: read, checked, measured and hashed.

Every refusal is a sentence for the panel; a view is never a blank box.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from starlette.concurrency import run_in_threadpool

from app.db import tables
from app.db.engine import Database
from app.db.upsert import upsert
from app.mcp.errors import McpError, ServerUnreachable
from app.mcp.hints import fresh_seconds
from app.mcp.hub import Hub
from app.mcp.single_flight import ClosedError, Limited, SingleFlight
from app.mcp.target import Target
from app.mcp_apps import documents
from app.mcp_apps.meta import ui_meta

_CACHE_SIZE = 64  # documents may be 16 MiB each
_ERROR_SECONDS = 3


class FragmentRefusedError(Exception):
    """The resource cannot be shown. ``reason`` is one word, ``sentence`` is for the panel."""

    def __init__(self, reason: str, sentence: str) -> None:
        # Both: a refusal is kept a moment, and copied for whoever asks again.
        super().__init__(reason, sentence)
        self.reason = reason
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Document:
    """``html`` as served; ``declared`` is the resource's ``_meta.ui``, third-party JSON."""

    uri: str
    html: str
    declared: Mapping[str, Any]

    @property
    def declared_csp(self) -> object:
        return self.declared.get("csp")

    @property
    def is_bordered(self) -> bool:
        """``prefersBorder``; where the resource says nothing the host decides: a border."""
        return self.declared.get("prefersBorder") is not False


@dataclass(frozen=True, slots=True)
class DocumentCopy:
    """``document`` as its server gave it at ``read_at``."""

    document: Document
    read_at: datetime


class Fragments:
    """Documents of all servers, kept for ``cache_seconds`` by (target, URI), or less where the
    server says so, one read at a time; each that was read is kept in the database too, for when
    its server is gone.
    """

    def __init__(
        self, hub: Hub, database: Database, *, cache_seconds: float, max_bytes: int
    ) -> None:
        self._hub = hub
        self._database = database
        self._max_bytes = max_bytes
        self._cache: SingleFlight[Document] = SingleFlight(
            ttl=cache_seconds, error_ttl=_ERROR_SECONDS, maxsize=_CACHE_SIZE
        )

    async def get(self, target: Target, uri: str) -> Document:
        """The document at ``uri`` (``ui://…``).

        Raises ``FragmentRefusedError`` for what may not be shown and ``app.mcp.errors.McpError``
        when the server cannot be asked.
        """
        try:
            return await self._cache.get((target.key, uri), lambda: self._read(target, uri))
        except ClosedError as error:
            raise ServerUnreachable("Vitrine is stopping.") from error

    async def copy(self, target: Target, uri: str) -> DocumentCopy | None:
        """The document that the server gave last, asking nobody."""
        return await run_in_threadpool(self._load, target, uri)

    def retry(self, target: Target, uri: str) -> None:
        """Forgets that reading failed a moment ago, and nothing else."""
        self._cache.forget_error((target.key, uri))

    def expire(self, target: Target) -> None:
        """The server says that it changed: its documents are read anew."""
        key = target.key
        self._cache.expire_where(lambda place: isinstance(place, tuple) and place[0] == key)

    def drop_server(self, url: str) -> None:
        """Forgets the documents of the server at ``url``, whoever they were given to."""
        self._cache.forget_where(lambda place: isinstance(place, tuple) and place[0][0] == url)

    async def aclose(self) -> None:
        await self._cache.aclose()

    async def _read(self, target: Target, uri: str) -> Limited[Document]:
        answer = await self._hub.read_resource(target, uri)
        item = _item(answer.get("contents"), uri)
        _check_type(item.get("mimeType"))
        html = _html(item)
        size = len(html.encode())
        if size > self._max_bytes:
            raise FragmentRefusedError(
                "too-large",
                f"The view is {size:,} bytes; at most {self._max_bytes:,} are shown.",
            )
        declared = ui_meta(item)
        if declared is None:
            declared = await self._listed_meta(target, uri)
        document = Document(uri, html, declared)
        await run_in_threadpool(self._keep, target, document)
        return Limited(document, fresh_seconds(answer))

    def _keep(self, target: Target, document: Document) -> None:
        url, fingerprint = target.key
        with self._database.session() as db:
            values = {
                "url": url,
                "fingerprint": fingerprint,
                "uri": document.uri,
                "content_hash": documents.store(db, document.html),
                "declared": dict(document.declared),
                "read_at": tables.now(),
            }
            upsert(db, tables.FragmentCopy, values, ["url", "fingerprint", "uri"])

    def _load(self, target: Target, uri: str) -> DocumentCopy | None:
        with self._database.session() as db:
            row = db.get(tables.FragmentCopy, (*target.key, uri))
            html = documents.load(db, row.content_hash) if row is not None else None
            if row is None or html is None:
                return None
            return DocumentCopy(Document(uri, html, row.declared), row.read_at)

    async def _listed_meta(self, target: Target, uri: str) -> Mapping[str, Any]:
        """``_meta.ui`` of the ``resources/list`` entry: the second place that hosts must check.

        A listing is optional for UI resources, so one that cannot be had means "nothing declared",
        which is the closed policy.
        """
        try:
            listing = await self._hub.list_resources(target)
        except McpError:
            return {}
        entry = next((entry for entry in listing if entry.get("uri") == uri), None)
        return ui_meta(entry) or {}


def _item(contents: object, uri: str) -> Mapping[str, Any]:
    items = (
        [item for item in contents if isinstance(item, Mapping)]
        if isinstance(contents, Sequence)
        else []
    )
    for item in items:
        if item.get("uri") == uri:
            return item
    if len(items) == 1:
        return items[0]
    raise FragmentRefusedError(
        "missing", "The server’s answer does not hold the document that the tool names."
    )


def _check_type(mime_type: object) -> None:
    """Any spelling of ``text/html;profile=mcp-app``: case, spaces and quotes do not matter."""
    kind, *parameters = str(mime_type or "").lower().split(";")
    profiles = {
        value.strip().strip("\"'")
        for name, _, value in (parameter.partition("=") for parameter in parameters)
        if name.strip() == "profile"
    }
    if kind.strip() != "text/html" or profiles != {"mcp-app"}:
        raise FragmentRefusedError(
            "wrong-type",
            f"The document’s type is {str(mime_type)[:80]!r}; a view is text/html;profile=mcp-app.",
        )


def _html(item: Mapping[str, Any]) -> str:
    text, blob = item.get("text"), item.get("blob")
    if isinstance(text, str):
        # A lone surrogate, which JSON can hold, has no UTF-8 form.
        return text.encode("utf-8", "replace").decode()
    if isinstance(blob, str):
        try:
            return base64.b64decode(blob, validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError) as error:
            raise FragmentRefusedError(
                "garbage", "The document is not valid base64 of UTF-8 text."
            ) from error
    raise FragmentRefusedError("missing", "The server’s answer holds no document text.")
