"""The one guarded outbound HTTP client. Nothing else in Vitrine opens a connection.

A name is resolved once for a connection, every address of the answer is checked, and the
connection goes to a checked address without asking again: an answer that changes between the
check and the connection (DNS rebinding) gains nothing. Proxies and certificates named in the
environment are ignored, no request leaves the origin that the client was made for, and no
answer is read further than its cap or longer than its time.
"""

import logging

from httpx2 import (
    URL,
    AsyncBaseTransport,
    AsyncByteStream,
    ByteStream,
    ConnectError,
    ConnectTimeout,
    EventSource,
    InvalidURL,
    PoolTimeout,
    ProxyError,
    Request,
    Response,
    ServerSentEvent,
    TimeoutException,
    TransportError,
)

from app.egress.addresses import Place, address_allowed, place_of, place_of_literal
from app.egress.backend import BlockedAddressError
from app.egress.guarded import (
    EncodedError,
    GuardedClient,
    LeftOriginError,
    TooLargeError,
    blocked,
    client,
    is_blocked,
)

# What those who stand around the client need, so that nobody else imports an HTTP library.
# Nothing that opens a connection is among it, but ``client``.
__all__ = [
    "URL",
    "AsyncBaseTransport",
    "AsyncByteStream",
    "BlockedAddressError",
    "ByteStream",
    "ConnectError",
    "ConnectTimeout",
    "EncodedError",
    "EventSource",
    "GuardedClient",
    "InvalidURL",
    "LeftOriginError",
    "Place",
    "PoolTimeout",
    "ProxyError",
    "Request",
    "Response",
    "ServerSentEvent",
    "TimeoutException",
    "TooLargeError",
    "TransportError",
    "address_allowed",
    "blocked",
    "client",
    "is_blocked",
    "place_of",
    "place_of_literal",
]

# At INFO these write every request's URL, whose query may hold a key.
for _name in ("httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)
