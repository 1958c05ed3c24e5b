"""The page of the documentation is what the tests of this folder have seen."""

import os

from e2e.official.seen import PAGE, Seen


def test_the_documentation_says_what_was_seen(seen: Seen) -> None:
    assert seen.missing() == []
    if os.environ.get("VITRINE_TEST_WRITE_COMPATIBILITY"):
        PAGE.write_text(seen.page())
    assert PAGE.read_text() == seen.page(), "run make compatibility, and look at what changed"
