import pytest

from app.mcp_apps import csp


def directives(declared: object, *, private_hosts: bool = False) -> dict[str, list[str]]:
    header = csp.build(declared, private_hosts=private_hosts).headers["Content-Security-Policy"]
    return {name: values for name, *values in (part.split() for part in header.split("; "))}


def test_nothing_declared_leaves_everything_closed() -> None:
    assert directives(None) == {
        "sandbox": ["allow-scripts", "allow-forms"],
        "default-src": ["'none'"],
        "script-src": ["'unsafe-inline'", "data:", "blob:"],
        "style-src": ["'unsafe-inline'"],
        "img-src": ["data:", "blob:"],
        "media-src": ["data:", "blob:"],
        "font-src": ["data:"],
        "worker-src": ["blob:", "data:"],
        "connect-src": ["'none'"],
        "frame-src": ["'none'"],
        "child-src": ["'none'"],
        "base-uri": ["'none'"],
        "object-src": ["'none'"],
        "form-action": ["'none'"],
        "frame-ancestors": ["'self'"],
    }


def test_each_list_widens_its_own_directives_and_no_others() -> None:
    declared = {
        "resourceDomains": ["https://r.example"],
        "connectDomains": ["wss://c.example:8443"],
        "frameDomains": ["https://f.example"],
        "baseUriDomains": ["https://b.example"],
    }
    widened = {
        name: [value for value in values if "example" in value]
        for name, values in directives(declared).items()
        if any("example" in value for value in values)
    }
    r, c, f, b = (
        ["https://r.example"],
        ["wss://c.example:8443"],
        ["https://f.example"],
        ["https://b.example"],
    )
    assert widened == {
        "script-src": r,
        "style-src": r,
        "img-src": r,
        "media-src": r,
        "font-src": r,
        "connect-src": c,
        "frame-src": f,
        "child-src": f,
        "base-uri": b,
    }


def test_a_declared_list_replaces_none_where_none_stood() -> None:
    assert directives({"connectDomains": ["https://c.example"]})["connect-src"] == [
        "https://c.example"
    ]


def test_the_connection_allowlist_names_the_origins_that_may_be_reached() -> None:
    built = csp.build(
        {
            "resourceDomains": ["https://*.tiles.example/", "https://cdn.example"],
            "connectDomains": ["https://cdn.example", "wss://live.example"],
            "baseUriDomains": ["https://base.example"],
        }
    )
    assert (
        built.headers["Connection-Allowlist"]
        == '("https://*.tiles.example" "https://cdn.example" "wss://live.example")'
    )
    assert csp.build(None).headers["Connection-Allowlist"] == "()"


@pytest.mark.parametrize(
    "declared",
    [
        None,
        {},
        {"resourceDomains": ["'self'", "'unsafe-eval'", "'unsafe-inline'", "https://x.example"]},
        {"connectDomains": ["'self'"], "frameDomains": ["self"]},
        {"baseUriDomains": ["https://b.example 'self'"]},
    ],
)
def test_self_and_eval_are_never_granted(declared: object) -> None:
    header = csp.build(declared).headers["Content-Security-Policy"]
    assert header.count("'self'") == 1  # frame-ancestors
    assert "'unsafe-eval'" not in header
    assert "allow-same-origin" not in header


HOSTILE = [
    "https://x.example; script-src *",
    "https://x.example, https://y.example",
    "https://x.example\r\nSet-Cookie: a=b",
    "https://x.example\n",
    "https://x.example ",
    " https://x.example",
    "https://x.example'",
    'https://x.example"',
    "https://x.example/path",
    "https://x.example//",
    "https://x.example?q",
    "https://x.example#f",
    "https://user@x.example",
    "https://exämple.org",
    "https://x.example\u202e",
    "*",
    "https:",
    "https://",
    "https://*",
    "https://*.com",
    "https://a.*.example",
    "*.example.org",
    "x.example",
    "data:",
    "blob:",
    "filesystem:",
    "javascript:alert(1)",
    "ftp://x.example",
    "file:///etc",
    "'none'",
    "'self'",
    "'unsafe-eval'",
    "'nonce-abc'",
    "https://x.example:0",
    "https://x.example:65536",
    "https://x.example:*",
    "https://[::1]",
    "https://.example",
    "https://-x.example",
    "",
    "https://" + "a" * 64 + ".example",
    None,
    7,
    ["https://x.example"],
    {"x": 1},
]


@pytest.mark.parametrize("entry", HOSTILE)
@pytest.mark.parametrize(
    "list_name", ["resourceDomains", "connectDomains", "frameDomains", "baseUriDomains"]
)
def test_an_entry_that_is_not_a_plain_origin_is_refused_whole_and_reported(
    list_name: str, entry: object
) -> None:
    built = csp.build({list_name: [entry, "https://good.example"]})
    closed = csp.build({list_name: ["https://good.example"]})
    assert built.headers == closed.headers
    assert built.granted == {list_name: ["https://good.example"]}
    assert [(r.list_name, r.entry) for r in built.refused] == [(list_name, str(entry))]
    assert built.refused[0].why


@pytest.mark.parametrize("list_name", ["resourceDomains", "frameDomains", "baseUriDomains"])
def test_web_sockets_count_for_connections_only(list_name: str) -> None:
    assert csp.build({list_name: ["wss://x.example"]}).granted == {}
    assert csp.build({"connectDomains": ["wss://x.example"]}).granted


def test_case_and_one_trailing_slash_are_tolerated_and_doubles_dropped() -> None:
    built = csp.build({"connectDomains": ["HTTPS://CDN.Example/", "https://cdn.example"]})
    assert built.granted == {"connectDomains": ["https://cdn.example"]}
    assert built.refused == ()


def test_at_most_32_entries_of_a_list_count() -> None:
    entries = [f"https://h{n}.example" for n in range(40)]
    built = csp.build({"resourceDomains": entries})
    assert built.granted["resourceDomains"] == entries[:32]
    assert [refused.entry for refused in built.refused] == entries[32:]


@pytest.mark.parametrize("declared", ["https://x.example", ["https://x.example"], 7, True])
def test_a_declaration_of_the_wrong_shape_grants_nothing_and_is_reported(declared: object) -> None:
    built = csp.build(declared)
    assert built.headers == csp.build(None).headers
    assert len(built.refused) == 1


def test_a_list_of_the_wrong_shape_grants_nothing_and_is_reported() -> None:
    built = csp.build({"connectDomains": "https://x.example", "resourceDomains": None})
    assert built.granted == {}
    assert [refused.list_name for refused in built.refused] == ["connectDomains"]


PRIVATE = [
    "http://localhost:3000",
    "http://app.localhost",
    "http://127.0.0.1",
    "http://10.1.2.3",
    "http://192.168.0.1",
    "http://172.16.0.1",
    "http://100.64.0.1",
]


@pytest.mark.parametrize("entry", PRIVATE)
def test_private_hosts_are_granted_only_to_a_private_server(entry: str) -> None:
    assert csp.build({"connectDomains": [entry]}).granted == {}
    assert csp.build({"connectDomains": [entry]}, private_hosts=True).granted


@pytest.mark.parametrize(
    "entry",
    [
        "http://169.254.169.254",
        "http://100.100.100.200",
        "http://168.63.129.16",
        "http://192.0.0.192",
        "http://0.0.0.0",
        "http://224.0.0.1",
        "http://2130706433",
        "http://0x7f000001",
        "http://0177.0.0.1",
        "http://127.1",
        "http://010.0.0.1",
    ],
)
def test_metadata_and_oddly_written_addresses_are_never_granted(entry: str) -> None:
    assert csp.build({"connectDomains": [entry]}, private_hosts=True).granted == {}


def test_every_other_header_of_the_document() -> None:
    headers = dict(csp.build(None).headers)
    del headers["Content-Security-Policy"]
    assert headers == {
        "Connection-Allowlist": "()",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "X-DNS-Prefetch-Control": "off",
        "X-Frame-Options": "SAMEORIGIN",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "unsafe-none",
        "Cache-Control": "private, no-store",
    }
