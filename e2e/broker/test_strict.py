"""What goes out is clean: the functions that see to it, by themselves."""

from typing import Any

import pytest

from e2e.broker.conftest import Host


def call(host: Host, module: str, expression: str, value: Any = None) -> Any:
    """``expression`` of a broker's module ``m`` and the value ``v``."""
    if host.page.url == "about:blank":
        host.page.goto(host.site.url)
    return host.page.evaluate(
        f"(v) => import('/static/js/broker/{module}').then((m) => {expression})", value
    )


def test_strip_nulls_takes_out_what_json_has_no_word_for(host: Host) -> None:
    given = (
        "{a: null, b: undefined, c: NaN, d: Infinity, e: 0, f: '', g: false,"
        " h: [1, null, undefined, NaN, [null], {x: null, y: 2}], i: {j: {k: null}}}"
    )
    clean = call(host, "json.js", f"JSON.stringify(m.stripNulls({given}))")
    assert clean == '{"e":0,"f":"","g":false,"h":[1,[],{"y":2}],"i":{"j":{}}}'


def test_strip_nulls_leaves_its_argument_alone_and_makes_no_prototype(host: Host) -> None:
    assert call(
        host,
        "json.js",
        '(() => { const given = {a: [null], b: JSON.parse(\'{"__proto__": {"x": 1}}\')};'
        " const clean = m.stripNulls(given);"
        " return [given.a.length, clean.b.x ?? null, Object.keys(clean.b)]; })()",
    ) == [1, None, ["__proto__"]]


BASE = {"theme": "dark", "locale": "de-CH"}


@pytest.mark.parametrize(
    "odd",
    [
        {"theme": "system"},
        {"displayMode": "standalone"},
        {"availableDisplayModes": ["inline", "window"]},
        {"containerDimensions": {"width": "wide"}},
        {"containerDimensions": {"width": -1}},
        {"locale": ""},
        {"timeZone": None},
        {"platform": "tv"},
        {"deviceCapabilities": {"touch": 1}},
        {"safeAreaInsets": {"top": "0"}},
        {"toolInfo": {"tool": {"name": "x"}}},
        {"toolInfo": {"tool": {"name": "x", "inputSchema": {}}}},
        {"styles": {"variables": "red"}},
        {"later": 1},
    ],
)
def test_a_member_that_a_strict_view_refuses_is_left_out(host: Host, odd: dict[str, Any]) -> None:
    given = {**BASE, **odd}
    kept = {name: value for name, value in BASE.items() if name not in odd}
    assert call(host, "strict.js", "m.strictContext(v)", given) == kept


def test_only_the_standard_style_variables_pass(host: Host) -> None:
    given = {
        "--color-background-primary": "red",
        "--color-ring-info": "red",
        "--font-heading-3xl-line-height": "1",
        "--shadow-hairline": "none",
        "--color-ring-tertiary": "red",
        "--font-heading-4xl-size": "1px",
        "--font-text-xl-size": "1px",
        "--my-own": "red",
        "--color-text-primary": 5,
        "--color-text-info": "",
    }
    clean = call(host, "strict.js", "m.strictContext({styles: {variables: v}})", given)
    assert list(clean["styles"]["variables"]) == list(given)[:4]


def test_the_whole_palette_passes(host: Host) -> None:
    assert (
        call(
            host,
            "palette.js",
            "import('/static/js/broker/strict.js').then((strict) => { const all = m.palette();"
            " const kept = strict.strictContext({styles: {variables: all}}).styles.variables;"
            " return Object.keys(all).filter((name) => !(name in kept)); })",
        )
        == []
    )


@pytest.mark.parametrize("value", ["[]", "null", "7", "new Map()", "new Date(0)", "10n", "() => 1"])
def test_sizes_are_measured_of_json_alone(host: Host, value: str) -> None:
    measured = call(host, "json.js", f"m.jsonSize({{v: {value}}}, 1000) < Infinity")
    assert measured is (value not in ("new Map()", "10n"))
