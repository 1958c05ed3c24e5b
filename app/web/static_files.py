"""Our own scripts, styles and pictures."""

from os import PathLike, stat_result
from typing import Final
from urllib.parse import parse_qs

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from app.web.templating import STATIC, static_version

_FOREVER: Final = "public, max-age=31536000, immutable"


class VersionedStatic(StaticFiles):
    """A file asked for by its content hash (``?v=…``) may be kept for ever; one asked for by name
    (a module that another module imports) is checked again each time.
    """

    def __init__(self) -> None:
        super().__init__(directory=STATIC)

    def file_response(
        self,
        full_path: str | PathLike[str],
        stat_result: stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        answer = super().file_response(full_path, stat_result, scope, status_code)
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("v", [""])[0]
        version = static_version(str(full_path))
        answer.headers["Cache-Control"] = _FOREVER if asked and asked == version else "no-cache"
        return answer
