"""Every error that reaches a person is rendered here: as a page, an htmx fragment or JSON."""

from http import HTTPStatus
from typing import Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from app.errors import VitrineError
from app.web.api.gate import is_api
from app.web.auth.next_page import wanted_page
from app.web.templating import render
from app.web.urls import link, route_path

UNEXPECTED: Final = "Something went wrong in Vitrine itself. The log says what."
_JSON_ENDINGS: Final = ("/rpc", "/message", "/cancel", "/result", "/seen")
# What a program is told beside the sentence.
_API_HEADERS: Final = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "60"}}
_SENTENCES: Final = {
    404: "There is nothing at this address.",
    405: "This address cannot be used that way.",
    408: "The request took too long to arrive.",
    413: "The request is larger than this server takes.",
    422: "Something in this request is missing or is not of the right form.",
}


def wants_json(scope: Scope) -> bool:
    accept = Headers(scope=scope).get("accept", "")
    path = route_path(scope)
    return (
        is_api(path)
        or path.endswith(_JSON_ENDINGS)
        or ("application/json" in accept and "text/html" not in accept)
    )


def response(scope: Scope, status: int, sentence: str) -> Response:
    """The answer to a request that failed with ``status``; ``sentence`` is third-party text at
    worst and is escaped here.

    JSON is ``{"error": {"code": status, "message": sentence}}``.
    """
    request = Request(scope)
    if wants_json(scope):
        data = JSONResponse({"error": {"code": status, "message": sentence}}, status)
        if is_api(route_path(scope)):
            data.headers.update(_API_HEADERS.get(status, {}))
        return data
    context: dict[str, object] = {
        "status": status,
        "title": _title(status),
        "sentence": sentence,
    }
    if "hx-request" in request.headers:
        answer = render(request, "partials/error.html", context, status=status)
        if status == 401:
            answer.headers["HX-Redirect"] = link(request, "sign_in", {"next": wanted_page(request)})
        return answer
    if status == 401 or (status == 429 and route_path(scope) == "/sign-in"):
        return sign_in_page(request, sentence, status)
    return render(request, "error.html", context, status=status)


def sign_in_page(
    request: Request, sentence: str = "", status: int = 200, *, name: str = ""
) -> Response:
    """The form, or where a link is to be had; ``sentence`` says what went wrong, ``name`` is what
    was typed.
    """
    state = request.scope.get("state", {})
    context = {
        "title": "Sign in",
        "sentence": sentence,
        "wrong": status >= 400 and request.method == "POST",
        "password_exists": state.get("password_exists", False),
        "ask_name": state.get("ask_name", False),
        "name": name,
        "next": wanted_page(request),
    }
    return render(request, "sign_in.html", context, status=status)


def _title(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"


def install(app: FastAPI) -> None:
    """Register the handlers. Unexpected exceptions are ``middleware.failsafe``'s: Starlette
    answers those outside every middleware, without the security headers.
    """

    async def handle(request: Request, error: Exception) -> Response:
        match error:
            case VitrineError():
                return response(request.scope, error.status, error.sentence)
            case HTTPException():
                sentence = _SENTENCES.get(error.status_code, str(error.detail))
                answer = response(request.scope, error.status_code, sentence)
                answer.headers.update(error.headers or {})
                return answer
            case _:
                return response(request.scope, 422, _SENTENCES[422])

    for kind in (VitrineError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, handle)
