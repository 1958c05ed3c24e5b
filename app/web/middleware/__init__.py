"""Everything that surrounds every request, as plain ASGI: no buffering, no hidden tasks."""

from starlette.middleware import Middleware

from app.settings import Settings
from app.web.api.gate import ApiGate
from app.web.auth.gate import SignInGate
from app.web.middleware import body_deadline
from app.web.middleware.audit_trail import AuditTrail
from app.web.middleware.body_deadline import BodyDeadline
from app.web.middleware.body_limit import BodyLimit
from app.web.middleware.failsafe import Failsafe
from app.web.middleware.headers import SecurityHeaders
from app.web.middleware.hosts import HostCheck
from app.web.middleware.isolation import Isolation
from app.web.middleware.origin import OriginCheck
from app.web.middleware.request_log import RequestLog


def stack(settings: Settings) -> list[Middleware]:
    """Outermost first: whatever a later one raises is rendered, headed and logged by the earlier.

    The gates come last, so that a refused request costs no database read; that of the API before
    the Origin check, which a request with a token of its own does not need. What the
    last one refuses to somebody who is signed in is told of in the audit trail.
    """
    return [
        Middleware(RequestLog),
        Middleware(SecurityHeaders),
        Middleware(Failsafe),
        Middleware(HostCheck, settings=settings),
        Middleware(BodyDeadline, seconds=body_deadline.SECONDS),
        Middleware(BodyLimit, max_bytes=settings.request_max_bytes),
        Middleware(ApiGate),
        Middleware(OriginCheck),
        Middleware(Isolation),
        Middleware(AuditTrail),
        Middleware(SignInGate),
    ]
