"""Whether a server lies where it may: asked when it is added, moved or allowed."""

from typing import Final

import anyio.from_thread

from app.errors import VitrineError
from app.mcp import urls
from app.mcp.urls import Place

_SECONDS: Final = 3


class PrivatePlaceError(VitrineError):
    """The address leads into a private network, which nobody confirmed yet."""

    def __init__(self) -> None:
        super().__init__(
            409,
            "This address is on this machine or in your own network. Vitrine would send requests "
            "there for its views. If that is what you want, confirm it below.",
        )


def place_of(url: str) -> Place:
    """Where ``url`` leads now. Call it in a thread of the event loop's pool, and while no
    session of the database is open: it waits for the resolver.
    """
    return anyio.from_thread.run(urls.place_of, url, _SECONDS)


def check(url: str, *, private: bool) -> None:
    """Raises ``VitrineError`` with the sentence for whoever filled in the form, a
    ``PrivatePlaceError`` where it needs a ``private`` that is true.
    """
    place = place_of(url)
    if place == Place.NEVER:
        raise VitrineError(400, "This address is never contacted (link-local, metadata or other).")
    if place == Place.PRIVATE and not private:
        raise PrivatePlaceError
