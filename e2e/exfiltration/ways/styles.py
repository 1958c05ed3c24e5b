"""Ways in style sheets and pictures drawn with SVG."""

from e2e.exfiltration.ways.way import Way

_SAME_DOCUMENT = "browsers follow it within the document only"
_OWN_ORIGIN = "browsers follow it to the document's own origin only"
_BLOCK = '<p id="x" class="x">x</p>'


def _style(name: str, declaration: str, *, mute: str = "") -> Way:
    return Way(f"css-{name}", f"<style>#x {{ {declaration} }}</style>{_BLOCK}", mute=mute)


def _svg(name: str, inside: str, *, script: str = "", mute: str = "") -> Way:
    space = 'xmlns:xlink="http://www.w3.org/1999/xlink"'
    html = f'<svg width="50" height="50" {space}>{inside}</svg>'
    return Way(f"svg-{name}", html, script, mute=mute)


STYLES = [
    Way("css-import", '<style>@import "$URL";</style>'),
    Way("css-import-layer", "<style>@import url($URL) layer(x) supports(color: red);</style>"),
    _style("background", "background: url($URL)"),
    _style("image-set", 'background: image-set("$URL" 1x)'),
    _style("cross-fade", "background: -webkit-cross-fade(url($URL), url($URL), 50%)"),
    _style("cursor", "cursor: url($URL), auto"),
    _style("list-style", "display: list-item; list-style-image: url($URL)"),
    _style("border-image", "border: 9px solid; border-image: url($URL) 9"),
    _style("mask", "mask: url($URL#m)"),
    _style("mask-image", "mask-image: url($URL)"),
    _style("filter", "filter: url($URL#f)", mute=_OWN_ORIGIN),
    _style("backdrop-filter", "backdrop-filter: url($URL#f)", mute=_OWN_ORIGIN),
    _style("clip-path", "clip-path: url($URL#c)"),
    _style("offset-path", "offset-path: url($URL#o)", mute=_SAME_DOCUMENT),
    _style("shape-outside", "float: left; shape-outside: url($URL)"),
    _style("content", "content: url($URL)"),
    _style("variable", "--u: url($URL); background: var(--u)"),
    Way("css-before", f"<style>#x::before {{ content: url($URL) }}</style>{_BLOCK}"),
    Way(
        "css-selector",
        "<style>input[value^=h] { background: url($URL) }</style><input value=hunter2>",
    ),
    Way("css-has", "<style>body:has(#x) { background: url($URL) }</style>" + _BLOCK),
    Way(
        "css-visited",
        "<style>a:visited { background: url($URL) }</style><a href='about:blank'>x</a>",
        mute="browsers let it change colours only",
    ),
    Way(
        "css-print",
        "<style>@media print { #x { background: url($URL) } }</style>" + _BLOCK,
        mute="nothing is printed here",
    ),
    Way(
        "css-font-face",
        "<style>@font-face { font-family: f; src: url($URL) } #x { font-family: f }</style>"
        + _BLOCK,
    ),
    Way(
        "css-font-range",
        "<style>@font-face { font-family: f; src: url($URL); unicode-range: U+78 }"
        f"#x {{ font-family: f }}</style>{_BLOCK}",
    ),
    Way(
        "css-animation",
        "<style>@keyframes k { from, to { background: url($URL) } } #x { animation: k 1s }</style>"
        + _BLOCK,
    ),
    Way("css-attribute", '<p style="background: url($URL)">x</p>'),
    Way("css-data-sheet", "<link rel=stylesheet href=\"data:text/css,@import'$URL'\">"),
    Way(
        "css-adopted",
        _BLOCK,
        "const s = new CSSStyleSheet(); s.replaceSync('#x { background: url($URL) }');"
        "document.adoptedStyleSheets = [s];",
    ),
    Way(
        "css-rule",
        f"<style></style>{_BLOCK}",
        "document.styleSheets[0].insertRule('#x { background: url($URL) }');",
    ),
    Way("font-face-api", "", "await new FontFace('f', 'url($URL)').load();"),
    _svg("image", '<image href="$URL" width="9" height="9"/>'),
    _svg("image-xlink", '<image xlink:href="$URL" width="9" height="9"/>'),
    _svg("use", '<use href="$URL#u"/>', mute=_OWN_ORIGIN),
    _svg("use-xlink", '<use xlink:href="$URL#u"/>', mute=_OWN_ORIGIN),
    _svg(
        "fe-image",
        '<filter id="f"><feImage href="$URL"/></filter>'
        '<rect width="9" height="9" filter="url(#f)"/>',
    ),
    _svg("script", '<script href="$URL"/>'),
    _svg("style-import", '<style>@import "$URL";</style>'),
    _svg("fill", '<rect width="9" height="9" fill="url($URL#p)"/>'),
    _svg("filter", '<rect width="9" height="9" filter="url($URL#f)"/>', mute=_OWN_ORIGIN),
    _svg("marker", '<path d="M0 0L9 9" marker-end="url($URL#m)"/>'),
    _svg(
        "gradient",
        '<linearGradient id="g" href="$URL#g"/><rect fill="url(#g)"/>',
        mute=_SAME_DOCUMENT,
    ),
    _svg("text-path", '<text><textPath href="$URL#t">x</textPath></text>', mute=_SAME_DOCUMENT),
    _svg(
        "animated-href", '<image width="9" height="9"><set attributeName="href" to="$URL"/></image>'
    ),
    _svg("foreign-object", '<foreignObject><img src="$URL"/></foreignObject>'),
    _svg(
        "data-picture",
        "<image width='9' height='9' href=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'"
        " xmlns:x='http://www.w3.org/1999/xlink'><image x:href='$URL'/></svg>\"/>",
        mute="a picture loads nothing",
    ),
]
