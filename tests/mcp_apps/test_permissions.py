"""What a view may use of the device: asked for by its resource and given by the operator."""

import pytest

from app.mcp_apps.permissions import CHOICES, header, judge


def test_only_what_is_asked_for_and_allowed_is_granted() -> None:
    declared: dict[str, object] = {"geolocation": {}, "clipboardWrite": {}}
    assert judge(declared, ["geolocation"]).granted == ("geolocation",)
    assert judge(declared, list(CHOICES)).granted == ("geolocation", "clipboardWrite")
    assert judge({}, list(CHOICES)).granted == ()


def test_what_is_asked_for_in_vain_is_said() -> None:
    found = judge({"geolocation": {}, "clipboardWrite": {}}, ["clipboardWrite"])
    [sentence] = found.refused
    assert "this device’s location" in sentence
    assert "not allowed" in sentence


@pytest.mark.parametrize("name", ["camera", "microphone"])
def test_what_no_browser_gives_is_never_granted_and_said(name: str) -> None:
    found = judge({name: {}}, ["camera", "microphone"])
    assert found.granted == ()
    [sentence] = found.refused
    assert f"the {name}" in sentence
    assert "no sandboxed view" in sentence
    assert name not in CHOICES


@pytest.mark.parametrize("declared", [None, [], "geolocation", 7, {"geolocation": True}])
def test_what_is_not_declared_as_specified_asks_for_nothing(declared: object) -> None:
    assert judge(declared, list(CHOICES)).granted == ()


def test_a_permission_that_is_not_known_is_named_and_a_flood_of_them_is_cut() -> None:
    [sentence] = judge({"<b>": {}}, []).refused
    assert "'<b>'" in sentence
    assert len(judge({f"p{n}": {} for n in range(100)}, []).refused) == 8


def test_the_documents_header_opens_what_is_granted_and_nothing_else() -> None:
    assert header(["geolocation"]) == (
        "geolocation=*, clipboard-write=(), camera=(), display-capture=(), microphone=(), "
        "payment=(), usb=()"
    )
    assert header([]).startswith("geolocation=(), clipboard-write=(), ")
