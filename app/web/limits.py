"""What a limit that was reached is answered with, and the limiter of one application.

How often the views of one session may spend Vitrine's time is a brake, not a control. Proxied
requests and messages have a bucket each, so that a view that polls cannot silence itself. In
memory, so nothing can fail: what must hold under every condition is the policy.
"""

import time

from slowapi import Limiter
from slowapi.errors import RateLimitExceeded
from starlette.requests import Request
from starlette.responses import Response

from app.db.tables import AuditOutcome
from app.mcp_apps.jsonrpc import REFUSED, RpcError
from app.text import one_line
from app.web import errors
from app.web.audit import trail
from app.web.rpc_response import rpc_error


def session_key(request: Request) -> str:
    """The session in the path. slowapi logs it, so it goes there as one harmless line."""
    return one_line(str(request.path_params["session_id"]), 64)


def make_limiter() -> Limiter:
    return Limiter(
        key_func=session_key,
        # By endpoint: the default key holds the path, and with it each call's id.
        key_style="endpoint",
        strategy="moving-window",
    )


def limit_reached(request: Request, error: Exception) -> Response:
    """429 with the limit's own sentence, for people. A limit without one is a view's: it is
    answered with JSON-RPC -32000 and ``data.retryAfterMs``.
    """
    if not isinstance(error, RateLimitExceeded):
        raise error
    trail.ended(request, AuditOutcome.LIMITED)
    limiter: Limiter = request.app.state.limiter
    limit, arguments = request.state.view_rate_limit
    stats = limiter.limiter.get_window_stats(limit, *arguments)
    wait_ms = max(0, round((stats.reset_time - time.time()) * 1000))
    if error.limit is not None and error.limit.error_message is not None:
        answer = errors.response(request.scope, 429, str(error.limit.error_message))
        answer.headers["Retry-After"] = str(-(-wait_ms // 1000))
        return answer
    return rpc_error(
        RpcError(REFUSED, "This session’s views ask too often.", {"retryAfterMs": wait_ms})
    )
