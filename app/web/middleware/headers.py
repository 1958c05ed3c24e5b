"""Security headers on every response, and the page's content security policy."""

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import VitrineError
from app.web import errors
from app.web.host import Host, host_of
from app.web.urls import base_path

_NEVER: Final = (
    "accelerometer",
    "browsing-topics",
    "camera",
    "display-capture",
    "gyroscope",
    "hid",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "publickey-credentials-get",
    "screen-wake-lock",
    "serial",
    "usb",
    "xr-spatial-tracking",
)


def _permissions(*, views: str, copying: str) -> str:
    own = [f"geolocation={views}", f"clipboard-write={copying}"]
    return ", ".join([*own, *(f"{feature}=()" for feature in _NEVER)])


# For pages with views: a frame's opaque origin is in no narrower list than ``*``, and a frame
# without ``allow`` of its own gets nothing by it.
VIEWS_PERMISSIONS: Final = _permissions(views="*", copying="*")

_DEFAULTS: Final = {
    "X-Content-Type-Options": "nosniff",
    # Not no-referrer: with it a browser sends "Origin: null" on a form's own POST, and the
    # Origin check must refuse null, which is what a sandboxed view sends.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-DNS-Prefetch-Control": "off",
    "Permissions-Policy": _permissions(views="()", copying="(self)"),
    "Cache-Control": "private, no-store",
}

_CLOSED_POLICY: Final = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"


def page_policy(host: Host, base: str) -> str:
    """The policy of Vitrine's own pages. ``frame-src`` has no scheme, so that a wrong forwarded
    one does not blank every view.
    """
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "form-action 'self'; img-src 'self' data:; base-uri 'none'; "
        f"frame-src {host}{base}/fragments/; frame-ancestors 'none'"
    )


class SecurityHeaders:
    """Adds what a response does not set itself: a fragment brings a policy of its own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refused: ASGIApp | None = None
        try:
            policy = page_policy(host_of(scope), base_path(scope))
        except VitrineError as error:
            policy, refused = _CLOSED_POLICY, errors.response(scope, error.status, error.sentence)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _DEFAULTS.items():
                    headers.setdefault(name, value)
                if "content-security-policy" not in headers:
                    headers["Content-Security-Policy"] = policy
                    headers.setdefault("X-Frame-Options", "DENY")
            await send(message)

        await (refused or self.app)(scope, receive, send_with_headers)
