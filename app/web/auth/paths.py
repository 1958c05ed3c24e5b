"""Which paths are open to whom: to anybody, or to viewers, only what is named here, so that a
forgotten route is closed. Whoever is operator may do everything.
"""

import re
from typing import Final

from app.errors import VitrineError
from app.web.auth.users import Person

# Beside them /api/v1, which knows no sign-in: app.web.api.gate.
_OPEN_PATHS: Final = {"/healthz", "/sign-in"}
_OPEN_PREFIXES: Final = ("/static/", "/sign-in/")

_READS: Final = {"GET", "HEAD"}
_PART: Final = r"[^/]+"
_CALL: Final = rf"/sessions/{_PART}/mcp_apps/{_PART}"
_READABLE: Final = re.compile(
    "|".join(
        (
            r"/",
            rf"/sessions/{_PART}",
            rf"/sessions/{_PART}/(?:search|entries)",
            rf"/sessions/{_PART}/(?:raw|rows)/{_PART}",
            rf"{_CALL}(?:/result)?",
            rf"/fragments/{_PART}",
            r"/events",
            r"/outbox",
            r"/settings/account",
        )
    )
)
# What a view's own requests may do for a viewer is decided where they are answered
# (app.mcp_apps.viewers): the view, which made them, is told so in its own words.
_DOABLE: Final = re.compile(
    "|".join(
        (
            rf"{_CALL}/(?:rpc|cancel|message|seen)",
            r"/settings/account/(?:password|sign-out-others)",
            r"/sign-out",
        )
    )
)
_MAY_NOT_OPEN: Final = "Only an operator can open this page."
_MAY_NOT_DO: Final = "Only an operator may do this. Nothing was changed."


def is_open(path: str) -> bool:
    """Whether ``path`` (without the base path) is shown to anybody."""
    return path in _OPEN_PATHS or path.startswith(_OPEN_PREFIXES)


def viewer_may(method: str, path: str) -> bool:
    """``path`` is without the base path."""
    if is_open(path):
        return True
    if method in _READS:
        return _READABLE.fullmatch(path) is not None
    return method == "POST" and _DOABLE.fullmatch(path) is not None


def check(person: Person, method: str, path: str) -> None:
    """Raises ``VitrineError`` 403."""
    if not person.is_operator and not viewer_may(method, path):
        raise VitrineError(403, _MAY_NOT_OPEN if method in _READS else _MAY_NOT_DO)
