"""What goes wrong with an MCP server, each as a word for programs and a sentence for people.

A sentence never holds a URL, a header or text that the server wrote; only ``ServerRejected``
carries the server's own words, apart, for the view that asked.
"""

# Named for what happened (ServerTimeout), as the callers read them.
# ruff: noqa: N818

from typing import Any, ClassVar


class McpError(Exception):
    """``reason`` is a short machine word, ``sentence`` is shown to a person as it is, and
    ``for_view`` is told to a view, whose author need not know how Vitrine is set up.
    """

    reason: ClassVar[str] = "failed"

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence

    @property
    def for_view(self) -> str:
        return self.sentence


class ServerUnreachable(McpError):
    """No connection, or one that broke before the answer was whole."""

    reason = "unreachable"

    def __init__(self, sentence: str = "The server cannot be reached.") -> None:
        super().__init__(sentence)


class ConnectionDropped(ServerUnreachable):
    """The connection broke after the request went out: the server may have done its work."""

    def __init__(
        self, sentence: str = "The server broke off the connection before its answer was whole."
    ) -> None:
        super().__init__(sentence)


class SessionLost(ServerUnreachable):
    """The server no longer knows the protocol session, and so did not run what was asked."""

    def __init__(
        self, sentence: str = "The server has started anew and lost its connection with Vitrine."
    ) -> None:
        super().__init__(sentence)


class ServerForbidden(McpError):
    """HTTP ``status`` 401 or 403: the server wants credentials that Vitrine does not have.

    ``advice`` are our own sentences on credentials that could not be sent.
    """

    reason = "forbidden"

    def __init__(self, status: int, advice: str = "") -> None:
        advice = advice or "An operator can give it a credential under Settings, Servers."
        super().__init__(f"The server refuses access (HTTP status {status}). {advice}")
        self.args = (status, advice)
        self.status = status

    @property
    def for_view(self) -> str:
        return f"The server refuses access (HTTP status {self.status})."


class NotPermitted(McpError):
    """Vitrine's own refusal to connect: the server is not allowed, or no longer."""

    reason = "not-permitted"

    def __init__(self, sentence: str = "This server is not allowed.") -> None:
        super().__init__(sentence)


class PrivateAddress(NotPermitted):
    """The server's name leads into a private network, for which nobody gave leave."""

    def __init__(
        self,
        sentence: str = (
            "This server's name leads to an address in a private network, and nobody confirmed "
            "that it may. If it is meant to be there, confirm it on the server's page under "
            "Settings, Servers."
        ),
    ) -> None:
        super().__init__(sentence)

    @property
    def for_view(self) -> str:
        return "This server's address is one that Vitrine does not contact."


class CredentialUnusable(NotPermitted):
    """A credential that belongs to the server cannot be had; without it nothing is sent."""

    reason = "credential"

    @property
    def for_view(self) -> str:
        return "The credential of this server cannot be used."


class ServerTimeout(McpError):
    """No whole answer within ``seconds``."""

    reason = "timeout"

    def __init__(self, seconds: float) -> None:
        unit = "second" if seconds == 1 else "seconds"
        super().__init__(f"The server did not answer within {seconds:g} {unit}.")
        self.args = (seconds,)


class ServerGarbage(McpError):
    """An answer that is not MCP, or not of the shape that the method promises."""

    reason = "garbage"

    def __init__(
        self, sentence: str = "The server gave an answer that Vitrine cannot read."
    ) -> None:
        super().__init__(sentence)


class ServerTooLarge(McpError):
    """An answer of more than ``limit`` bytes; it was not read to its end."""

    reason = "too-large"

    def __init__(self, limit: int) -> None:
        size = f"{limit / 1_048_576:.0f} MiB" if limit >= 1_048_576 else f"{limit} bytes"
        super().__init__(f"The server's answer is larger than {size}.")
        self.args = (limit,)


class InputRequired(McpError):
    """``resultType: "input_required"``: the server wants a form filled in, which nobody gets."""

    reason = "input_required"

    def __init__(
        self,
        sentence: str = "The server asks a person for more input, which Vitrine does not offer.",
    ) -> None:
        super().__init__(sentence)


class UnsendableRequest(McpError):
    """The name or arguments cannot be written as JSON (lone surrogates, NaN, too deep).

    Found before anything is sent; to the one who asked it is JSON-RPC -32602.
    """

    reason = "unsendable"

    def __init__(self, sentence: str = "The request cannot be written as JSON.") -> None:
        super().__init__(sentence)


class ServerRejected(McpError):
    """The server's own JSON-RPC error, as it came: ``code``, ``message``, ``data`` (or None).

    ``message`` and ``data`` are third-party text; ``sentence`` does not repeat them.
    """

    reason = "rejected"

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"The server refused the request (error {code}).")
        self.args = (code, message, data)
        self.code = code
        self.message = message
        self.data = data
