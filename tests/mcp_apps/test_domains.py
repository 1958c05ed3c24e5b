"""The operator's ceiling under a declaration of domains."""

import pytest

from app.db.tables import Server
from app.errors import VitrineError
from app.mcp_apps import csp, domains

A, B = "https://a.example", "https://b.example"
WIDE = "https://*.tiles.example"


def granted(declared: list[str], mode: str, *chosen: str) -> tuple[list[str], list[str]]:
    """(granted, narrowed) of a resource that declares ``declared`` for connections."""
    server = Server(url="https://mcp.example/mcp", domains=mode, chosen_domains=list(chosen))
    policy = csp.build({"connectDomains": declared}, ceiling=domains.ceiling(server))
    header = policy.headers["Content-Security-Policy"]
    connect = next(part for part in header.split("; ") if part.startswith("connect-src"))
    reached = [origin for origin in connect.split()[1:] if origin != "'none'"]
    assert policy.granted.get("connectDomains", []) == reached
    allowlist = policy.headers["Connection-Allowlist"]
    assert allowlist == "(" + " ".join(f'"{origin}"' for origin in reached) + ")"
    return reached, list(policy.narrowed)


def test_by_default_all_that_is_declared() -> None:
    assert Server(url="https://mcp.example/mcp").domains == "all"
    assert granted([A, B], "all") == ([A, B], [])
    assert granted([A], "all", B) == ([A], [])


def test_chosen_grants_what_is_both_declared_and_chosen() -> None:
    assert granted([A, B], "chosen", A) == ([A], [B])
    assert granted([A], "chosen", A, B) == ([A], [])
    assert granted([A], "chosen") == ([], [A])


@pytest.mark.parametrize("mode", ["none", "", "ALL", "some"])
def test_none_and_what_cannot_be_read_grant_nothing(mode: str) -> None:
    assert granted([A, B], mode, A) == ([], [A, B])


def test_of_a_wildcard_only_what_is_chosen_below_it() -> None:
    one = "https://eu.tiles.example"
    assert granted([WIDE], "chosen", one) == ([one], [WIDE])
    assert granted([one, A], "chosen", WIDE) == ([one], [A])
    assert granted([WIDE], "chosen", WIDE, one) == ([WIDE], [])
    assert granted([WIDE], "chosen", "https://tiles.example") == ([], [WIDE])


@pytest.mark.parametrize(
    "other",
    [
        "http://a.example",
        "wss://a.example",
        "https://a.example:8443",
        "https://x.a.example",
        "https://*.a.example",
        "https://aa.example",
    ],
)
def test_scheme_host_and_port_all_count(other: str) -> None:
    assert granted([A], "chosen", other) == ([], [A])
    assert granted([WIDE], "chosen", "http://eu.tiles.example") == ([], [WIDE])
    assert granted([WIDE], "chosen", "https://eu.tiles.example:1") == ([], [WIDE])


def test_what_is_refused_stays_refused_when_it_is_chosen() -> None:
    """The choice goes through the rules of the policy itself."""
    for entry in ("*", "https:", "data:", "'unsafe-eval'", "https://*.com", "http://127.0.0.1"):
        with pytest.raises(VitrineError, match="cannot be granted"):
            domains.checked([A, entry], private_hosts=False)
        assert granted([entry], "chosen", entry)[0] == []
    with pytest.raises(VitrineError):
        domains.checked(["http://169.254.169.254"], private_hosts=True)


def test_a_choice_is_kept_in_one_spelling_and_bounded() -> None:
    assert domains.checked([f"{B}/", "HTTPS://A.example", A], private_hosts=False) == [A, B]
    assert domains.checked(["http://127.0.0.1:8000"], private_hosts=True)
    many = [f"https://h{number}.example" for number in range(domains.MOST_CHOSEN + 1)]
    with pytest.raises(VitrineError, match="At most"):
        domains.checked(many, private_hosts=False)
