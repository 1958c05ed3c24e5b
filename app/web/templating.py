"""The Jinja environment: everything escaped, nothing hidden, no undefined name passes silently."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import jinja2
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from app.text import visible
from app.web.urls import base_path, path_of, with_query

PACKAGE: Final = Path(__file__).resolve().parent.parent
STATIC: Final = PACKAGE / "static"


def _finalize(value: object) -> object:
    """Spells out hidden characters in every text that a template prints, so that no template
    can forget it. ``Markup`` was made safe where it was made.
    """
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _when(value: datetime) -> Markup:
    """A time that reads well without JavaScript (UTC); the script shows the reader's own zone."""
    moment = value.astimezone(UTC)
    return Markup('<time datetime="{}" data-form="when">{} UTC</time>').format(
        moment.strftime("%Y-%m-%dT%H:%M:%SZ"), moment.strftime("%Y-%m-%d %H:%M")
    )


def _clock(value: datetime) -> Markup:
    moment = value.astimezone(UTC)
    return Markup('<time datetime="{}" data-form="clock">{}</time>').format(
        moment.strftime("%Y-%m-%dT%H:%M:%SZ"), moment.strftime("%H:%M")
    )


@lru_cache(maxsize=256)
def _version(path: Path, _modified: int, _size: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def static_version(name: str) -> str:
    """The first digits of the content hash of a static file; empty when it is not built yet."""
    path = STATIC / name
    try:
        facts = path.stat()
    except FileNotFoundError:
        return ""
    return _version(path, facts.st_mtime_ns, facts.st_size)


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PACKAGE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters["when"] = _when
    environment.filters["clock"] = _clock
    return environment


_ENVIRONMENT: Final = _environment()


def _is_operator(request: Request) -> bool:
    person = request.scope.get("state", {}).get("person")
    return person is not None and person.is_operator


def render(
    request: Request,
    template: str,
    context: Mapping[str, Any],
    *,
    status: int = 200,
) -> HTMLResponse:
    """``template`` as a response. Beside ``context`` a template knows ``url(name, query=None,
    **path parameters)``, ``static(file)``, ``signed_in`` and ``operator``: a control that a viewer
    may not use is not shown to one.
    """

    @cache
    def known_path(name: str, params: tuple[tuple[str, str], ...]) -> str:
        # The router is asked once a page: a hundred rows link to the same session.
        return path_of(request, name, dict(params))

    def url(name: str, query: object = None, **params: object) -> str:
        texts = tuple((key, str(value)) for key, value in params.items())
        return with_query(known_path(name, texts), query)

    def static(name: str) -> str:
        version = static_version(name)
        address = f"{base_path(request.scope)}/static/{name}"
        return f"{address}?v={version}" if version else address

    html = _ENVIRONMENT.get_template(template).render(
        **context,
        url=url,
        static=static,
        signed_in=request.scope.get("state", {}).get("login") is not None,
        operator=_is_operator(request),
    )
    return HTMLResponse(html, status)
