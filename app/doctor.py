"""``vitrine doctor``: what keeps views blank or sign-ins short, found by looking from outside.

It asks the public address as a browser would and reads what came back: only from there it shows
what a reverse proxy made of the host, the scheme, the base path and the headers.
"""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app import egress
from app.egress import URL, InvalidURL, Response, TransportError
from app.settings import Settings
from app.text import one_line

_FRAME_SRC: Final = re.compile(r"(?:^|;)\s*frame-src ([^;]*)")
_SECONDS: Final = 10
_MAX_BYTES: Final = 1_048_576


@dataclass(frozen=True, slots=True)
class Finding:
    """``sentence`` says what is well or what is wrong and how to mend it."""

    is_well: bool
    sentence: str


def examine_files(settings: Settings) -> Iterator[Finding]:
    """The data folder and the watched ones."""
    folder = settings.data_dir
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & 0o077:
        yield Finding(
            False,
            f"Other people of this machine can look into the data folder {_shown(folder)}, which "
            "holds transcripts in clear text. Close it with chmod 700.",
        )
    else:
        yield Finding(True, f"The data folder {_shown(folder)} is closed to others.")
    for watched in settings.watched_folders:
        if not watched.is_dir():
            yield Finding(False, f"The watched folder {_shown(watched)} is not there (yet).")
        elif not os.access(watched, os.R_OK | os.X_OK):
            yield Finding(False, f"The watched folder {_shown(watched)} cannot be read.")
        else:
            yield Finding(True, f"The watched folder {_shown(watched)} can be read.")


async def examine_address(settings: Settings) -> list[Finding]:
    """The address that people open, asked once."""
    if not settings.public_url:
        return [
            Finding(True, "VITRINE_PUBLIC_URL is not set, so nothing was asked through a proxy.")
        ]
    base = settings.public_url.rstrip("/")
    try:
        async with egress.client(
            base,
            private_ok=True,  # the operator's own address
            connect_seconds=_SECONDS,
            read_seconds=_SECONDS,
            max_bytes=_MAX_BYTES,
        ) as client:
            answer = await client.get(f"{base}/sign-in", headers={"Accept": "text/html"})
    except (TransportError, InvalidURL) as error:
        why = one_line(str(error)) or type(error).__name__
        return [Finding(False, f"{one_line(base)}/sign-in cannot be asked: {why}.")]
    return list(_judged(settings, URL(base), answer))


def _judged(settings: Settings, base: URL, answer: Response) -> Iterator[Finding]:
    policies = answer.headers.get_list("content-security-policy")
    if answer.status_code != 200 or not policies:
        yield Finding(
            False,
            f"{one_line(str(base))}/sign-in answers {answer.status_code} and is no page of "
            "Vitrine’s. Does the proxy lead there, base path and all?",
        )
        return
    yield Finding(True, f"{one_line(str(base))}/sign-in is Vitrine’s sign-in page.")
    if len(policies) > 1 or len(answer.headers.get_list("x-frame-options")) > 1:
        yield Finding(
            False,
            "Something on the way adds a Content-Security-Policy or X-Frame-Options of its own. "
            "Views stay blank until it does not.",
        )
    host = base.netloc.decode("ascii").lower()
    wanted = f"{host}{base.path.rstrip('/')}/fragments/"
    found = _FRAME_SRC.search(policies[0])
    allowed = one_line(found[1].strip()) if found else "nothing"
    if allowed != wanted:
        yield Finding(
            False,
            f"Views may come from {allowed}, but they will from {one_line(wanted)}: each stays "
            "blank. The proxy has to pass the Host header on as the browser sent it, and "
            "VITRINE_ROOT_PATH has to name the path that it strips.",
        )
    else:
        yield Finding(True, "Pages let in views from that address, and from nowhere else.")
    if base.scheme == "https" and not settings.trusted_proxies:
        yield Finding(
            False,
            "People come over https, but Vitrine believes no proxy that says so: its cookie is "
            "not kept to TLS. Name the proxy’s address in VITRINE_TRUSTED_PROXIES.",
        )
    elif base.scheme == "http" and base.host not in ("localhost", "127.0.0.1", "::1"):
        yield Finding(
            False, "People come over plain http: whoever listens on the way can sign in as they do."
        )


def _shown(path: Path) -> str:
    return one_line(str(path))
