"""Forty public bugs of other MCP Apps hosts: for each, the tests here that would notice it, or why
it cannot happen.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CSP = "tests/mcp_apps/test_csp.py"
PANELS = "tests/web/panels/test_mcp_apps.py"
STATES = "tests/web/panels/test_panel_states.py"
OWN = "tests/web/panels/test_host_bugs.py"
DISPLAY = "e2e/broker/test_display.py"
LIFE = "e2e/broker/test_lifecycle.py"
LINKS = "e2e/broker/test_links.py"
SHAKE = "e2e/broker/test_handshake.py"
START = "e2e/broker/test_startup.py"

# (symptom, the tests that show it does not happen here)
BUGS: dict[int, tuple[str, list[str]]] = {
    1: (
        "frameDomains and connectDomains are ignored",
        [f"{CSP}::test_each_list_widens_its_own_directives_and_no_others"],
    ),
    2: (
        "a policy in resources/list alone is not found",
        [f"{STATES}::test_the_policy_comes_from_the_listing_when_the_item_says_nothing"],
    ),
    3: (
        "_meta of the content item is stripped on the way",
        [
            "tests/mcp/test_content.py::test_meta_is_untouched_at_every_level",
            f"{STATES}::test_the_policy_comes_from_the_content_item_first",
        ],
    ),
    4: (
        "a sanitizer mangles a sound origin",
        [f"{CSP}::test_case_and_one_trailing_slash_are_tolerated_and_doubles_dropped"],
    ),
    5: (
        "a domain injects directives",
        [f"{CSP}::test_an_entry_that_is_not_a_plain_origin_is_refused_whole_and_reported"],
    ),
    6: (
        "a view forges the sandbox proxy's messages",
        ["e2e/broker/test_hostile.py::test_what_only_a_host_says_is_dropped_and_noted"],
    ),
    7: (
        "a view has the host's own origin",
        [
            f"{LIFE}::test_the_frame_is_sandboxed_and_named",
            "e2e/test_fragment.py::test_in_a_tab_it_runs_in_an_opaque_origin_without_a_port",
        ],
    ),
    8: (
        "views that touch storage die",
        [
            "e2e/broker/test_prelude.py::test_storage_stands_in",
            "e2e/broker/test_prelude.py::test_cookies_stand_in",
        ],
    ),
    9: (
        "a domain is ignored without a word",
        [f"{OWN}::test_an_origin_of_its_own_is_declined_in_words_and_the_view_is_shown"],
    ),
    10: (
        "neither input nor result ever comes",
        [f"{LIFE}::test_the_view_gets_input_once_then_the_result"],
    ),
    11: (
        "a call without arguments gives no input",
        [f"{LIFE}::test_a_call_without_arguments_gives_an_empty_object"],
    ),
    12: (
        "after a reload the view is empty or gone",
        [
            "e2e/broker/test_reload.py::test_reload_asks_for_the_whole_panel_again",
            "e2e/broker/test_reload.py::test_back_and_forward_give_a_running_view",
            f"{LIFE}::test_a_recorded_result_is_passed_as_it_is_but_for_what_breaks_views",
            "e2e/test_states.py::test_a_restart_with_the_servers_stopped_still_shows_what_was_shown",
        ],
    ),
    13: (
        "a context update is acknowledged and lost",
        [f"{PANELS}::test_the_last_context_update_of_a_view_wins"],
    ),
    14: (
        "a message is dropped",
        [
            f"{PANELS}::test_a_message_is_kept_with_its_author_and_place",
            "e2e/test_demo.py::test_a_message_appears_in_the_outbox_with_its_author",
        ],
    ),
    15: ("the width is pinned", [f"{DISPLAY}::test_a_height_is_followed_within_bounds"]),
    16: (
        "a view shrinks by a pixel a frame, or grows for ever",
        [
            f"{DISPLAY}::test_small_shrinks_are_ignored_and_larger_ones_followed",
            f"{DISPLAY}::test_a_height_that_follows_the_frame_is_held_where_that_began",
        ],
    ),
    17: (
        "dark views get an opaque backdrop",
        [f"{DISPLAY}::test_a_view_without_a_background_has_no_opaque_backdrop"],
    ),
    18: (
        "context updates before the view listens, and listeners of removed views",
        [
            f"{LIFE}::test_nothing_is_sent_before_initialized",
            "e2e/broker/test_reload.py::test_a_removed_panel_leaves_nothing_behind",
        ],
    ),
    19: (
        "style variables are missing at the start",
        [f"{LIFE}::test_the_palette_is_complete_concrete_and_holds_standard_keys_only"],
    ),
    20: (
        "views refuse the initialize result",
        [
            f"{LIFE}::test_the_initialize_result_has_all_that_views_require",
            "e2e/conformance/test_lifecycle.py::test_it_starts_whatever_the_server_says_of_the_tool",
        ],
    ),
    21: (
        "only the flat key is read",
        ["tests/mcp/test_tool_index.py::test_the_view_is_nested_first_then_flat"],
    ),
    22: (
        "only the flat key is read (frameworks)",
        ["tests/mcp/test_tool_index.py::test_the_view_is_nested_first_then_flat"],
    ),
    23: (
        "a result with _meta.ui decides whether there is a view",
        [
            f"{OWN}::test_a_result_that_names_a_view_itself_mounts_none",
            f"{OWN}::test_a_result_that_names_another_view_changes_nothing",
        ],
    ),
    24: (
        "a document over 1 MiB is a silent failure",
        [
            "tests/mcp/test_content.py::test_a_view_of_several_mebibytes_is_read",
            f"{STATES}::test_a_document_over_the_cap_is_refused_and_one_at_the_cap_is_shown",
        ],
    ),
    25: (
        "a document in base64 is mojibake",
        [f"{OWN}::test_a_document_in_base64_is_no_mojibake"],
    ),
    26: (
        "permissions are ignored",
        [
            "tests/web/panels/test_permissions.py::"
            "test_a_view_gets_what_its_server_asks_for_and_is_allowed",
            "e2e/broker/test_chrome.py::test_permissions_that_were_granted_are_handed_to_the_frame",
        ],
    ),
    27: (
        "an error result is a white box",
        [f"{LIFE}::test_an_error_result_goes_to_the_view_and_is_shown_as_text"],
    ),
    28: (
        "a view is gone before it has answered teardown",
        [
            f"{LIFE}::test_requests_are_served_while_the_view_is_ending",
            f"{LIFE}::test_a_view_that_asks_to_be_closed_is_told_first",
        ],
    ),
    29: (
        "open-link takes javascript: and throws on refusal",
        [
            f"{LINKS}::test_other_addresses_are_refused_without_a_question",
            f"{LINKS}::test_a_refusal_is_a_result_with_is_error",
        ],
    ),
    30: (
        "a blocked pop-up counts as opened",
        [f"{LINKS}::test_a_person_sees_the_whole_address_and_opens_it"],
    ),
    31: (
        "download-file is dropped",
        [
            "e2e/broker/test_download.py::test_a_person_sees_names_types_and_sizes_and_saves",
            "e2e/broker/test_download.py::test_names_are_made_harmless",
        ],
    ),
    32: (
        "odd visibility lets a view call a tool",
        [
            "tests/mcp/test_tool_index.py::test_a_malformed_visibility_lets_nobody_call",
            f"{STATES}::test_no_other_visibility_reaches_the_server",
        ],
    ),
    33: (
        "a view that never starts is hidden for ever",
        [f"{START}::test_a_view_that_never_starts_is_explained"],
    ),
    34: (
        "a page update remounts a view",
        [
            f"{SHAKE}::test_a_spent_frame_is_never_moved_or_loaded_again",
            "e2e/broker/test_reload.py::test_a_swap_elsewhere_leaves_the_views_alone",
            "e2e/test_live.py::test_a_view_that_was_opened_while_its_call_ran_gets_the_result",
        ],
    ),
    35: (
        "the page freezes when a view's content changes",
        [f"{DISPLAY}::test_a_flood_of_heights_moves_the_page_once_a_frame"],
    ),
    36: (
        "WebAssembly is blocked without a word",
        ["e2e/broker/test_chrome.py::test_what_a_view_does_not_get_is_said_in_words"],
    ),
    37: (
        "the first message is lost",
        [f"{SHAKE}::test_what_a_view_sends_before_the_port_is_kept_in_order"],
    ),
    38: (
        "a stale document is served",
        ["tests/mcp_apps/test_fragment.py::test_a_server_that_changed_gives_its_documents_anew"],
    ),
    39: (
        "a call goes out with another server's headers",
        ["tests/mcp/test_hub.py::test_other_headers_mean_another_connection_and_cache"],
    ),
    40: (
        "size and display mode are ignored",
        [
            "e2e/conformance/test_view_to_host.py::test_it_logs_and_sizes",
            "e2e/conformance/test_view_to_host.py::test_it_changes_mode_and_hears_of_it",
        ],
    ),
}


def test_all_forty_are_there() -> None:
    assert sorted(BUGS) == list(range(1, 41))


@pytest.mark.parametrize("number", BUGS)
def test_each_has_tests_that_exist(number: int) -> None:
    symptom, tests = BUGS[number]
    assert symptom
    assert tests
    for test in tests:
        file, _, name = test.partition("::")
        tree = ast.parse((ROOT / file).read_text())
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        named = {node.name for node in tree.body if isinstance(node, functions)}
        assert name in named, f"{file} has no {name}"
