"""The document as it is served. What the prelude does in a browser: e2e/broker/test_prelude.py."""

import re

import pytest

from app.mcp_apps import prelude

NONCE = "abcDEF0123456789_-"


def test_doctype_and_prelude_come_before_the_untouched_document() -> None:
    html = '<!DOCTYPE html>\n<html lang="de"><head><title>é</title></head></html>\n'
    served = prelude.document(html, NONCE).decode()
    assert served.startswith("<!doctype html><script>")
    before, _, after = served.partition("</script>")
    assert after == html
    assert f'const NONCE = "{NONCE}";' in before
    assert served.count(NONCE) == 1


def test_the_script_cannot_end_early_or_hide_what_follows() -> None:
    served = prelude.document("", NONCE).decode()
    assert len(re.findall("</script", served, re.IGNORECASE)) == 1
    assert "<!--" not in served


@pytest.mark.parametrize(
    "nonce", ["", "short", "x" * 129, 'a"+alert(1)+"bbbbbbbbbb', "</script>aaaaaaaaa", f"{NONCE}\n"]
)
def test_a_nonce_that_could_be_more_than_text_is_refused(nonce: str) -> None:
    with pytest.raises(ValueError, match="nonce"):
        prelude.document("<p>", nonce)


@pytest.mark.parametrize("text", ["const x = '</SCRIPT>';", "const x = '<!-- y';"])
def test_a_prelude_that_would_end_its_element_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="script element"):
        prelude._compact(text)


def test_a_prelude_must_have_a_place_for_the_nonce() -> None:
    with pytest.raises(ValueError, match="must begin"):
        prelude._split("const NONCE = 1;")


def test_a_byte_order_mark_does_not_open_the_body() -> None:
    served = prelude.document("\ufeff<!doctype html><title>x</title>", NONCE)
    assert served.endswith(b"</script><!doctype html><title>x</title>")


def test_any_text_can_be_served() -> None:
    assert prelude.document("a\ud800b\0c", NONCE).endswith(b"</script>a?b\0c")


def test_the_prelude_is_small() -> None:
    """It is sent with every view."""
    assert len(prelude.document("", NONCE)) < 9_000
