"""JSON-RPC errors as a view receives them (design.md, Routes)."""

from typing import Any, Final

METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
REFUSED: Final = -32000


class RpcError(Exception):
    """One JSON-RPC error object. ``data`` is left out of the answer when it is ``None``:
    official views refuse a ``null``.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def as_object(self) -> dict[str, Any]:
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return error

    def as_answer(self) -> dict[str, Any]:
        """What is sent to whoever asked: ``{"error": …}``."""
        return {"error": self.as_object()}
