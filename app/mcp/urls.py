"""Which text is the URL of a server."""

from typing import Final

from app import egress
from app.egress import Place
from app.errors import VitrineError

__all__ = ["Place", "canonical_url", "checked_url", "host_of", "is_private", "place_of"]

MAX_URL: Final = 2_048


def canonical_url(url: str) -> str | None:
    """``url`` as a server of that URL is stored, ``None`` where none could be."""
    try:
        return checked_url(url)
    except VitrineError:
        return None


def checked_url(url: str) -> str:
    url = url.strip()
    if len(url) > MAX_URL:
        raise VitrineError(400, f"A URL has at most {MAX_URL} characters.")
    if not url.isprintable() or " " in url or "\\" in url:
        raise VitrineError(400, "The URL holds spaces, backslashes or hidden characters.")
    try:
        # The parser that will connect: two parsers may read two hosts in one text.
        parsed = egress.URL(url)
        port = parsed.port
    except (egress.InvalidURL, ValueError) as error:
        raise VitrineError(400, "This is not a URL.") from error
    if parsed.scheme not in ("http", "https"):
        raise VitrineError(400, "The URL must begin with http:// or https://.")
    if not parsed.host:
        raise VitrineError(400, "The URL names no host.")
    if port is not None and not 1 <= port <= 65_535:
        raise VitrineError(400, "The URL's port is out of range.")
    if parsed.userinfo or "@" in parsed.netloc.decode("ascii", "replace"):
        raise VitrineError(400, "The URL must not hold a user name or password.")
    if "#" in url:
        raise VitrineError(400, "The URL must not hold a fragment (#…).")
    if _is_never_reached(parsed.host):
        raise VitrineError(400, "This address is never contacted (link-local, metadata or other).")
    return str(parsed)


def _is_never_reached(host: str) -> bool:
    # What a name resolves to is looked at when a connection is made.
    return egress.place_of_literal(host) == Place.NEVER


def host_of(url: str) -> str:
    """Of a URL that ``checked_url`` has let pass."""
    return egress.URL(url).host


def is_private(url: str) -> bool:
    """Whether ``url`` says by itself that it leads into a private network."""
    return egress.place_of_literal(host_of(url)) == Place.PRIVATE


async def place_of(url: str, seconds: float) -> Place:
    """Where a URL of a server leads now. Asks the resolver and nobody else, and not for longer
    than ``seconds``; unknown where ``url`` is none.
    """
    checked = canonical_url(url)
    if checked is None:
        return Place.UNKNOWN
    return await egress.place_of(host_of(checked), seconds)
