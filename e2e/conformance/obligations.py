"""What the specification asks of a host, and which test shows it.

The ids are those of the project's own reading of SEP-1865 (2026-01-26 and its draft). A test is
named as ``file::function``; an obligation that cannot arise here says why.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_LIFE = "e2e/conformance/test_lifecycle.py"
_ASKS = "e2e/conformance/test_view_to_host.py"
_TOLD = "e2e/conformance/test_host_to_view.py"
_PANELS = "tests/web/panels"


@dataclass(frozen=True, slots=True)
class Obligation:
    what: str
    tests: tuple[str, ...] = ()
    not_applicable: str = ""


OBLIGATIONS: Final[Mapping[str, Obligation]] = {
    "L1": Obligation(
        "Nothing is sent to the view before it says initialized",
        (
            f"{_LIFE}::test_nothing_comes_before_initialized",
            "e2e/broker/test_lifecycle.py::test_nothing_is_sent_before_initialized",
        ),
    ),
    "L2": Obligation(
        "tool-input comes once, whole, before the result; {} where there were no arguments",
        (f"{_LIFE}::test_input_then_result", f"{_LIFE}::test_it_accepts_every_state_of_a_call"),
    ),
    "L3": Obligation(
        "tool-input-partial stops once tool-input is sent",
        not_applicable="The call is over when its panel is shown: its arguments are complete, so "
        "none is sent.",
    ),
    "L4": Obligation(
        "tool-result comes when the call is complete", (f"{_LIFE}::test_input_then_result",)
    ),
    "L5": Obligation(
        "tool-cancelled comes whatever the reason",
        (f"{_LIFE}::test_it_accepts_every_state_of_a_call",),
    ),
    "L6": Obligation(
        "resource-teardown comes before the view goes, and is waited for",
        (f"{_LIFE}::test_it_is_torn_down_before_it_goes",),
    ),
    "L7": Obligation(
        "request-teardown leads to the same teardown",
        (f"{_LIFE}::test_it_asks_to_be_torn_down",),
    ),
    "L8": Obligation(
        "hostContext is in the initialize result", (f"{_LIFE}::test_the_handshake_tells_all",)
    ),
    "L9": Obligation("size-changed resizes the frame", (f"{_ASKS}::test_it_logs_and_sizes",)),
    "L10": Obligation(
        "Tools that are not for the model stay out of the agent's list",
        not_applicable="Vitrine gives no agent a list of tools: the agent asked the server itself.",
    ),
    "L11": Obligation(
        "A view's call of a tool that is not for apps, or another server's, is refused",
        (
            f"{_PANELS}/test_mcp_apps.py::test_any_other_tool_is_unknown_in_the_same_words",
            f"{_PANELS}/test_panel_states.py::test_no_other_visibility_reaches_the_server",
        ),
    ),
    "L12": Obligation(
        "The document is read with resources/read, also where resources/list does not name it",
        (
            f"{_PANELS}/test_mcp_apps.py::test_the_document_comes_under_its_own_headers_after_the_prelude",
            f"{_PANELS}/test_panel_states.py::test_the_policy_comes_from_the_content_item_first",
        ),
    ),
    "L13": Obligation(
        "No display mode that the view did not list; the answer is the mode in force",
        (
            f"{_ASKS}::test_it_changes_mode_and_hears_of_it",
            "e2e/broker/test_display.py::test_a_mode_that_the_view_did_not_list_is_not_entered",
        ),
    ),
    "L14": Obligation(
        "The declared policy is enforced and never loosened",
        (
            "tests/mcp_apps/test_csp.py::test_nothing_declared_leaves_everything_closed",
            "tests/mcp_apps/test_csp.py::test_self_and_eval_are_never_granted",
        ),
    ),
    "L15": Obligation(
        "What a view asks is logged, malformed messages are refused, outside addresses are shown",
        (
            "e2e/broker/test_hostile.py::test_malformed_messages_are_dropped_and_noted",
            f"{_PANELS}/test_panel_states.py::test_what_was_refused_is_listed_in_the_panel",
        ),
    ),
    "L16": Obligation(
        "The client advertises the extension with its MIME type",
        ("tests/mcp/test_hub.py::test_vitrine_says_who_it_is_and_what_it_can",),
    ),
    "L17": Obligation(
        "A view's own tools last as long as the view; a call to one that is closed is an error",
        (
            f"{_TOLD}::test_its_own_tools_are_listed_called_and_gone_with_it",
            "e2e/broker/test_app_tools.py::test_a_closed_views_tools_are_gone",
        ),
    ),
}

# Each message between a view and its host, by who sends it.
MESSAGES: Final[Mapping[str, Obligation]] = {
    "view: ui/initialize": Obligation("answered", (f"{_LIFE}::test_the_handshake_tells_all",)),
    "view: ping": Obligation("answered", (f"{_ASKS}::test_ping_is_answered_both_ways",)),
    "view: tools/call": Obligation("forwarded", (f"{_ASKS}::test_it_calls_its_server",)),
    "view: tools/list": Obligation("forwarded", (f"{_ASKS}::test_it_lists_what_its_server_has",)),
    "view: resources/read": Obligation("forwarded", (f"{_ASKS}::test_it_calls_its_server",)),
    "view: resources/list": Obligation(
        "forwarded", (f"{_ASKS}::test_it_lists_what_its_server_has",)
    ),
    "view: resources/templates/list": Obligation(
        "forwarded", (f"{_ASKS}::test_it_lists_what_its_server_has",)
    ),
    "view: prompts/list": Obligation(
        "refused, and not advertised", (f"{_ASKS}::test_what_is_not_offered_is_refused",)
    ),
    "view: sampling/createMessage": Obligation(
        "refused, and not advertised", (f"{_ASKS}::test_what_is_not_offered_is_refused",)
    ),
    "view: ui/open-link": Obligation("asks", (f"{_ASKS}::test_it_opens_a_link",)),
    "view: ui/download-file": Obligation("asks", (f"{_ASKS}::test_it_saves_a_file",)),
    "view: ui/message": Obligation("kept", (f"{_ASKS}::test_it_speaks_to_the_agent",)),
    "view: ui/update-model-context": Obligation("kept", (f"{_ASKS}::test_it_speaks_to_the_agent",)),
    "view: ui/request-display-mode": Obligation(
        "done", (f"{_ASKS}::test_it_changes_mode_and_hears_of_it",)
    ),
    "view: ui/notifications/initialized": Obligation(
        "heard", (f"{_LIFE}::test_nothing_comes_before_initialized",)
    ),
    "view: ui/notifications/size-changed": Obligation(
        "followed", (f"{_ASKS}::test_it_logs_and_sizes",)
    ),
    "view: ui/notifications/request-teardown": Obligation(
        "followed", (f"{_LIFE}::test_it_asks_to_be_torn_down",)
    ),
    "view: notifications/message": Obligation("shown", (f"{_ASKS}::test_it_logs_and_sizes",)),
    "view: notifications/tools/list_changed": Obligation(
        "followed", (f"{_TOLD}::test_its_own_tools_are_listed_called_and_gone_with_it",)
    ),
    "view: notifications/cancelled": Obligation("followed", (f"{_ASKS}::test_it_gives_up_a_call",)),
    "view: notifications/progress": Obligation(
        "taken, and of no use: no request to a view asks for it",
        not_applicable="The host's requests carry no progress token.",
    ),
    "host: ui/resource-teardown": Obligation(
        "sent", (f"{_LIFE}::test_it_is_torn_down_before_it_goes",)
    ),
    "host: tools/list": Obligation(
        "sent", (f"{_TOLD}::test_its_own_tools_are_listed_called_and_gone_with_it",)
    ),
    "host: tools/call": Obligation(
        "sent", (f"{_TOLD}::test_its_own_tools_are_listed_called_and_gone_with_it",)
    ),
    "host: ping": Obligation("sent", (f"{_ASKS}::test_ping_is_answered_both_ways",)),
    "host: ui/notifications/tool-input": Obligation("sent", (f"{_LIFE}::test_input_then_result",)),
    "host: ui/notifications/tool-input-partial": Obligation(
        "never sent", not_applicable="The arguments are complete: see L3."
    ),
    "host: ui/notifications/tool-result": Obligation("sent", (f"{_LIFE}::test_input_then_result",)),
    "host: ui/notifications/tool-cancelled": Obligation(
        "sent", (f"{_LIFE}::test_it_accepts_every_state_of_a_call",)
    ),
    "host: ui/notifications/host-context-changed": Obligation(
        "sent", (f"{_ASKS}::test_it_changes_mode_and_hears_of_it",)
    ),
    "host: notifications/tools/list_changed": Obligation(
        "sent", (f"{_TOLD}::test_it_hears_of_changed_lists",)
    ),
    "host: notifications/resources/list_changed": Obligation(
        "sent", (f"{_TOLD}::test_it_hears_of_changed_lists",)
    ),
    "host: notifications/prompts/list_changed": Obligation(
        "never sent", not_applicable="Prompts are not offered."
    ),
    "host: notifications/progress": Obligation(
        "sent", (f"{_ASKS}::test_progress_keeps_its_call_alive",)
    ),
    "host: notifications/cancelled": Obligation(
        "sent",
        ("e2e/broker/test_app_tools.py::test_a_view_that_never_answers_is_told_that_nobody_waits",),
    ),
    "proxy: sandbox-proxy-ready, sandbox-resource-ready": Obligation(
        "ignored from a view; there is no proxy frame here",
        ("e2e/broker/test_hostile.py::test_what_only_a_host_says_is_dropped_and_noted",),
    ),
}
