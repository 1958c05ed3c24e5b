"""Markdown of transcripts: what it becomes, and what it can never become."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.web import markdown
from app.web.markdown import MAX_CHARACTERS, safe_address, to_html

ALLOWED = {
    "a": {"href", "title", "rel", "class"},
    "ol": {"start"},
    "div": {"class"},
    "pre": {"class"},
    "span": {"class"},
    "td": {"class"},
    "th": {"class"},
}
# fmt: off
TAGS = {
    *ALLOWED,
    "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "p", "strong",
    "table", "tbody", "thead", "tr", "ul",
}
# fmt: on


class Elements(HTMLParser):
    """Every element and attribute as a browser would see it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def links(html: str) -> list[str | None]:
    return [attrs.get("href") for tag, attrs in Elements(html).found if tag == "a"]


def assert_harmless(html: str) -> None:
    for tag, attrs in Elements(html).found:
        assert tag in TAGS, tag
        assert set(attrs) <= ALLOWED.get(tag, set()), (tag, attrs)
        href = attrs.get("href")
        if href is not None:
            assert re.match(r"(?i)https?://[^/\\\s]|mailto:[^/\\\s]", href), href
            assert attrs["rel"] == "noopener noreferrer nofollow"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)>",
        "<svg><script>alert(1)</script></svg>",
        "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
        "<meta http-equiv=refresh content='0;url=https://evil.example'>",
        "<base href=https://evil.example/>",
        "<object data=x></object><embed src=x>",
        "<form action=https://evil.example><input name=q></form>",
        "<style>@import 'https://evil.example'</style>",
        "<link rel=stylesheet href=https://evil.example>",
        "<b style='background:url(https://evil.example)'>x</b>",
        "<b hx-get=/settings/servers hx-trigger=load>x</b>",
        "<b data-hx-post=/sign-out data-hx-trigger=load>x</b>",
        "<b hx-on:click=alert(1) hx-on::load=alert(1)>x</b>",
        "<a id=main name=main class=panel href=https://a.example>x</a>",
        "<math><mtext></table><img src=x onerror=alert(1)></mtext></math>",
        "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
        "<textarea></textarea><template><script>alert(1)</script></template>",
        "a <b\nonclick=alert(1)>x",
        "<!-- <script>alert(1)</script> -->",
        "<![CDATA[<script>alert(1)</script>]]>",
        "<?php <script>alert(1)</script> ?>",
        "```html\n<script>alert(1)</script>\n```",
        '```"><script>alert(1)</script>\nx\n```',
        "`<script>alert(1)</script>`",
        "| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |",
        "# <script>alert(1)</script>",
        "[<img src=x onerror=alert(1)>](https://a.example)",
        '!["><script>alert(1)</script>](https://a.example/x.png)',
        "[a](https://a.example '\"><script>alert(1)</script>')",
        '[a](https://a.example/"onmouseover="alert(1))',
        'https://a.example/"onmouseover="alert(1)',
    ],
)
def test_html_is_shown_and_never_obeyed(text: str) -> None:
    html = str(to_html(text))
    assert_harmless(html)
    assert "<script" not in html
    assert "<img" not in html


def test_raw_html_can_be_read() -> None:
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in to_html("Look: <script>alert(1)</script>")
    assert "&lt;div hx-get" in to_html("<div hx-get=/x>\n</div>")


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java&#10;script:alert(1)",
        "java&Tab;script:alert(1)",
        "&#106;avascript:alert(1)",
        "&#x6A;avascript&colon;alert(1)",
        "\\javascript:alert(1)",
        "%6aavascript:alert(1)",
        "\x01javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:msgbox",
        "file:///etc/passwd",
        "blob:https://a.example/x",
        "//evil.example/x",
        "\\\\evil.example/x",
        "/\\evil.example/x",
        "/settings/servers",
        "../../settings",
        "#main",
        "?level=verbose",
        "settings",
        "https:settings",
        "https:/settings",
        "https:///settings",
        "https:\\\\evil.example",
        "http://",
        "mailto:",
        "mailto://evil.example",
        "ftp://a.example",
        "",
    ],
)
def test_other_addresses_are_no_links_and_their_text_stays(address: str) -> None:
    for text in (f"[shown]({address})", f"[shown](<{address}>)", f"[shown]\n\n[shown]: {address}"):
        html = str(to_html(text))
        assert_harmless(html)
        assert links(html) == []
        assert "shown" in html


@pytest.mark.parametrize(
    "address", ["https://a.example/x?a=1&b=2#c", "HTTP://A.example", "mailto:a@b.example"]
)
def test_plain_addresses_are_links(address: str) -> None:
    assert links(str(to_html(f"[shown]({address})"))) == [address]
    assert safe_address(address) == address


def test_an_autolink_is_a_link() -> None:
    assert links(str(to_html("<https://a.example/x> <a@b.example>"))) == [
        "https://a.example/x",
        "mailto:a@b.example",
    ]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("See https://a.example/x_y_z.", "https://a.example/x_y_z"),
        ("(https://a.example/x)", "https://a.example/x"),
        ("**https://a.example**", "https://a.example"),
    ],
)
def test_a_bare_address_is_a_link(text: str, address: str) -> None:
    assert links(str(to_html(text))) == [address]


def test_links_do_not_nest() -> None:
    html = str(to_html("[a https://b.example ![c](https://d.example)](https://e.example)"))
    assert links(html) == ["https://e.example"]


def test_an_image_is_a_link_with_its_host_and_never_loaded() -> None:
    html = str(to_html("![A chart](https://tracker.example/p.png?who=you)"))
    assert "<img" not in html
    assert links(html) == ["https://tracker.example/p.png?who=you"]
    assert "A chart (image at tracker.example, not loaded)" in html
    assert links(str(to_html("![x](data:image/svg+xml,<svg/>)"))) == []


def test_the_address_is_said_so_that_no_text_can_hide_it() -> None:
    (attrs,) = [
        attrs
        for tag, attrs in Elements(
            str(to_html("[https://good.example](https://evil.example)"))
        ).found
        if tag == "a"
    ]
    assert attrs["title"] == "https://evil.example"


def test_hidden_characters_are_spelt_out() -> None:
    html = str(to_html("exe\u202etxt \u200b \U000e0041 `\x1b[31m`"))
    assert "exe⟨U+202E⟩txt ⟨U+200B⟩ ⟨U+E0041⟩ <code>⟨U+001B⟩[31m</code>" in html


def test_the_ordinary_reads_well() -> None:
    html = str(
        to_html(
            "# One\n\nA *b* **c** ~~d~~ `e`\n\n3. x\n4. y\n\n- [x] done\n- [ ] open\n\n> q\n\n"
            "---\n\n| l | r |\n|:--|--:|\n| 1 | 2 |\n"
        )
    )
    for part in (
        "<h3>One</h3>",
        "<em>b</em> <strong>c</strong> <del>d</del> <code>e</code>",
        '<ol start="3">',
        '<span class="task">☑</span> done',
        '<span class="task">☐</span> open',
        "<blockquote><p>q</p>",
        "<hr>",
        '<td class="align-right">2</td>',
    ):
        assert part in html


def test_code_is_coloured_by_class() -> None:
    html = str(to_html("```python title=x\ndef f(): return '<b>'\n```"))
    assert '<span class="k">def</span>' in html
    assert "&lt;b&gt;" in html
    assert_harmless(html)


@pytest.mark.parametrize("language", ["", "no-such-language", "x" * 5000])
def test_unknown_code_stays_plain(language: str) -> None:
    html = str(to_html(f"```{language}\nif a < b: pass\n```"))
    assert "<code>if a &lt; b: pass\n</code>" in html


def test_code_that_is_long_is_not_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.web.highlight.MAX_CHARACTERS", 10)
    assert "<span" not in to_html("```python\ndef long_function(): pass\n```")


def test_text_that_is_too_long_is_shown_as_it_is() -> None:
    text = "**<b>**" + "x" * MAX_CHARACTERS
    html = str(to_html(text))
    assert html.startswith('<pre class="plain">**&lt;b&gt;**xxx')


@pytest.mark.parametrize(
    "unit",
    [
        ">",
        "- ",
        "1. ",
        "[",
        "](",
        "*a_",
        "`",
        "<a ",
        "&",
        "|a",
        "[a]: x\n[a]",
        "![",
        "~~",
        "http://",
    ],
)
def test_pathological_text_is_bounded_in_size_and_depth(unit: str) -> None:
    html = str(to_html(unit * (40_000 // len(unit))))
    assert len(html) < 100 * 40_000
    depth = deepest = 0
    for end in re.findall(r"<(/?)(?:blockquote|ul|ol|li)\b", html):
        depth += -1 if end else 1
        deepest = max(deepest, depth)
    assert deepest <= markdown._MAX_DEPTH + 1


@given(st.text(alphabet="<>&\"'`*_[]()!#|-:\\/ \n\tahjx=1", max_size=200))
@settings(max_examples=300, deadline=None)
def test_no_text_escapes(text: str) -> None:
    assert_harmless(str(to_html(text)))


def test_the_sanitizer_holds_if_the_writer_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two walls: what the writer lets slip, nh3 stops."""
    monkeypatch.setattr(
        markdown._Writer,
        "write",
        lambda _self, _events: iter(
            ["<script>x</script><a href='javascript:x' onclick=x id=y>z</a><img src=https://a.b>"]
        ),
    )
    html = str(to_html("x"))
    assert_harmless(html)
    assert "javascript" not in html


def test_a_text_is_rendered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    markdown.forget()
    first = markdown.to_html("**kept** by content")
    monkeypatch.setattr(markdown, "_Writer", None)  # rendering again would fail
    assert markdown.to_html("**kept** by " + "content") == first
    assert markdown._KEPT.maxsize < 10_000_000
    assert markdown._KEPT.currsize == len(first)
