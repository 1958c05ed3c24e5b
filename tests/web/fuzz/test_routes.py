"""A fuzzer over every route there is, with names that exist among those that do not: bodies that
no form sends, values that no page offers, headers that no browser writes.
"""

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.routing import iter_route_contexts
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from starlette.routing import Mount

from tests.web.fuzz.conftest import ORIGIN, SECRET, Deployment, may_be_open

EXAMPLES = 1_500
# A stream that opens has no end; what is no stream's name is refused at once.
ENDLESS = "/events"
_STREAM = re.compile(r"[A-Za-z0-9_-]{22,64}")

# What forms and addresses call their values.
_NAMES = [
    "in", "after", "before", "page", "notice", "q", "agent", "folder", "server", "tool",
    "view", "error", "from", "to", "level", "at", "transcript", "live", "retry", "name",
    "address", "next", "stream", "key", "url", "transport", "allowed", "unmarked",
    "permission", "password", "current", "repeat", "render", "user", "role", "scope", "days",
    "kind", "domain", "confirm", "outcome", "person", "session",
]  # fmt: skip

ODD = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            "",
            "0",
            "-1",
            "0-0",
            "0-3",
            "1-0",
            "99999999999999999999",
            "0-99999999999999999999",
            "NaN",
            "null",
            "true",
            "\x00",
            "a\x00b",
            "../../etc/passwd",
            "..%2f..%2fetc",
            "%",
            "%00",
            "' OR 1=1 --",
            '"; DROP TABLE users; --',
            "<script>alert(1)</script>",
            "{{7*7}}",
            "${7*7}",
            "\r\nSet-Cookie: a=b",
            "javascript:alert(1)",
            "//evil.example/",
            "http://[",
            "http://169.254.169.254/",
            "\u202e\ufeff\U000e0041",
            "x" * 3_000,
            "*" * 300,
            "(" * 300,
        ]
    ),
)
NAMES = st.sampled_from(_NAMES)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), ODD),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ODD, inner, max_size=3),
    max_leaves=6,
)
# What the routes that take JSON look for.
SHAPED = st.fixed_dictionaries(
    {},
    optional={
        "method": st.sampled_from(["tools/call", "resources/read", "tools/list", "x"]) | JSON,
        "params": st.fixed_dictionaries(
            {}, optional={"name": JSON, "arguments": JSON, "uri": JSON, "cursor": JSON}
        )
        | JSON,
        "kind": st.sampled_from(["message", "context"]) | JSON,
        "call": JSON,
        "stream": JSON,
        "confirm": JSON,
    },
)
HEADERS = st.dictionaries(
    st.sampled_from(
        [
            "Accept",
            "HX-Request",
            "Referer",
            "Sec-Fetch-Site",
            "Sec-Purpose",
            "Last-Event-ID",
            "Authorization",
            "X-Forwarded-For",
            "X-Forwarded-Proto",
            "Remote-User",
            "If-None-Match",
            "Range",
        ]
    ),
    st.one_of(
        st.sampled_from(["text/html", "application/json", "*/*", "true", "none", "bytes=0-"]),
        st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40),
    ),
    max_size=4,
)


def bodies() -> st.SearchStrategy[tuple[str, bytes]]:
    """(media type, body)."""
    form = st.lists(st.tuples(NAMES | ODD, ODD), max_size=5).map(
        lambda pairs: "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in pairs)
    )
    media = st.sampled_from(
        [
            "application/json",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "multipart/form-data",
            "text/plain",
            "",
        ]
    )
    return st.one_of(
        st.tuples(st.just("application/json"), (SHAPED | JSON).map(_dumped)),
        st.tuples(st.just("application/x-www-form-urlencoded"), form.map(str.encode)),
        st.tuples(media, st.binary(max_size=200)),
    )


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="replace")


def _dumped(value: object) -> bytes:
    return json.dumps(value).encode()


def routes(deployment: Deployment) -> list[tuple[str, str]]:
    """(method, path template) of every route, and of one that is not there."""
    app: Any = deployment.client.app
    found = [("GET", "/nowhere/{x}"), ("POST", "/nowhere/{x}")]
    for context in iter_route_contexts(app.routes):
        if isinstance(context.original_route, Mount):
            found.append(("GET", f"{context.original_route.path}/{{x}}"))
        else:
            found += [(method, str(context.path)) for method in sorted(context.methods or ())]
    return found


@st.composite
def attacks(
    draw: Callable[..., Any], where: list[tuple[str, str]], real: dict[str, str]
) -> tuple[str, str, dict[str, str], bytes]:
    method, template = draw(st.sampled_from(where))

    def filled(match: re.Match[str]) -> str:
        name = match[1]
        known = real.get(name)
        value = known if known is not None and draw(st.integers(0, 3)) else draw(ODD)
        return _quoted(value) or "x"

    url = re.sub(r"{(\w+)(?::\w+)?}", filled, template)
    query = draw(st.lists(st.tuples(NAMES, ODD), max_size=4))
    if template == ENDLESS:
        query = [(name, value) for name, value in query if not _STREAM.fullmatch(value)]
    if query:
        url += "?" + "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in query)
    media, body = draw(bodies()) if method not in ("GET", "HEAD") else ("", b"")
    headers = {**draw(HEADERS), **ORIGIN} | ({"Content-Type": media} if media else {})
    return method, url, headers, body


# Made anew for each half: what one did away with, the other still finds.
@pytest.mark.parametrize("who", ["stranger", "operator"])
def test_no_request_fails_unforeseen(deployment: Deployment, who: str) -> None:
    real = {
        "session_id": deployment.session_id,
        "tool_call_id": "toolu_1",
        "server_id": str(deployment.server_id),
        "address": "0-3",
        "transcript": "0",
    }
    cookies = deployment.sign_in() if who == "operator" else {}
    # What would end the run itself: the session, the server, and the sign-in that it goes by.
    ending = {"/sign-out", "/settings/servers/{server_id}/remove", "/sessions/{session_id}/delete"}
    where = [
        (method, template)
        for method, template in routes(deployment)
        if who == "stranger" or template not in ending
    ]
    seen: dict[int, int] = {}

    @examples(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(attack=attacks(where, real))
    def run(attack: tuple[str, str, dict[str, str], bytes]) -> None:
        method, url, headers, body = attack
        answer = deployment.ask(method, url, headers=headers, content=body, cookies=cookies)
        seen[answer.status_code] = seen.get(answer.status_code, 0) + 1
        assert answer.status_code < 500, (attack, answer.text)
        if who == "stranger":
            assert SECRET not in answer.text
            assert SECRET not in str(answer.headers)
            path = url.partition("?")[0]
            if answer.status_code < 400:
                assert may_be_open(path), attack

    run()
    assert seen.get(401 if who == "stranger" else 200, 0) > EXAMPLES / 20, seen
